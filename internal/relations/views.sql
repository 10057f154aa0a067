-- The views of `overlay sql`, and the few tables of Perfetto that its queries use, over the tables of a trace: a query
-- moves between both. Ids are those of the trace; of rank R > 0 they are R * 2^32 higher, so that no two ranks share one.
CREATE VIEW overlay_critical AS
SELECT event + rank * 4294967296 AS id, ts_ns AS ts, dur_ns AS dur, track + rank * 4294967296 AS track_id, cat AS category, name, NULL AS arg_set_id,
  critical_ns, critical_id + rank * 4294967296 AS critical_id, critical_next + rank * 4294967296 AS critical_next, run, rank
FROM events
WHERE critical_id IS NOT NULL;

CREATE VIEW overlay_segment AS
SELECT critical_id + rank * 4294967296 AS id, ts_ns AS ts, dur_ns AS dur, name, kind, evidence, critical_id + rank * 4294967296 AS critical_id, run, rank
FROM segments;

CREATE VIEW slice AS
SELECT event + rank * 4294967296 AS id, ts_ns AS ts, dur_ns AS dur, track + rank * 4294967296 AS track_id, cat AS category, name, NULL AS arg_set_id, run, rank
FROM events;

CREATE VIEW thread_track AS
SELECT track + rank * 4294967296 AS id, track + rank * 4294967296 AS utid, thread AS name, run, rank
FROM tracks;

CREATE VIEW thread AS
SELECT track + rank * 4294967296 AS utid, rank || ':' || pid AS upid, tid, thread AS name, run, rank
FROM tracks;

CREATE VIEW process AS
SELECT DISTINCT rank || ':' || pid AS upid, pid, process AS name, run, rank
FROM tracks;

-- Collectives with how far they reach: intra is one machine, inter several; null where that is not known. A machine is known by
-- its name, else ranks are taken to be numbered machine by machine, a GPU each, unless all say the same GPU. It takes the traces of all
-- members.
CREATE VIEW collective_topology AS
SELECT c.*, CASE WHEN t.known < c.ranks THEN NULL WHEN t.hosts = 1 THEN 'intra' WHEN t.named < t.known AND t.devices = 1 THEN NULL WHEN t.hosts > 1 THEN 'inter' END AS topology
FROM collectives c
LEFT JOIN (
  SELECT g.run AS run, g.rank AS rank, g.process_group AS process_group, count(*) AS known, count(r.host) AS named, count(DISTINCT r.device) AS devices,
    count(DISTINCT coalesce(r.host, 'rank ' || (r.rank - r.device))) AS hosts
  FROM group_ranks g JOIN runs r ON r.run = g.run AND r.rank = g.peer
  WHERE r.host IS NOT NULL OR r.device IS NOT NULL
  GROUP BY g.run, g.rank, g.process_group) t ON t.run = c.run AND t.rank = c.rank AND t.process_group = c.process_group;
