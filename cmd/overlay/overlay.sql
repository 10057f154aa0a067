-- Views and queries for traces written by overlay. Works on .pftrace and on Chrome JSON: the first view hides that
-- arguments are called debug.* in one and args.* in the other. Paste all of it, or the views and the query you need.

-- Every event that has critical time of its own.
--   critical_ns       time of the window attributed to the event itself
--   critical_id       place of its first segment on the path, from 0
--   critical_next     critical_id of the event that the path enters next (NULL on the last)
CREATE OR REPLACE PERFETTO VIEW overlay_critical AS
SELECT
  s.id, s.ts, s.dur, s.track_id, s.category, s.name, s.arg_set_id,
  coalesce(extract_arg(s.arg_set_id, 'debug.critical_ns'), extract_arg(s.arg_set_id, 'args.critical_ns'), s.dur) AS critical_ns,
  coalesce(extract_arg(s.arg_set_id, 'debug.critical_id'), extract_arg(s.arg_set_id, 'args.critical_id')) AS critical_id,
  coalesce(extract_arg(s.arg_set_id, 'debug.critical_next'), extract_arg(s.arg_set_id, 'args.critical_next')) AS critical_next
FROM slice s
WHERE coalesce(extract_arg(s.arg_set_id, 'debug.critical'), extract_arg(s.arg_set_id, 'args.critical')) = 1;

-- The segments of the path itself, without holes (method exact): one row each, in time order.
CREATE OR REPLACE PERFETTO VIEW overlay_segment AS
SELECT
  s.id, s.ts, s.dur, s.name,
  coalesce(extract_arg(s.arg_set_id, 'debug.kind'), extract_arg(s.arg_set_id, 'args.kind')) AS kind,
  coalesce(extract_arg(s.arg_set_id, 'debug.evidence'), extract_arg(s.arg_set_id, 'args.evidence')) AS evidence,
  coalesce(extract_arg(s.arg_set_id, 'debug.critical_id'), extract_arg(s.arg_set_id, 'args.critical_id')) AS critical_id
FROM slice s
WHERE s.category = 'critical_path';

-- 1. What is the path made of?
SELECT category, name, count(*) AS events, sum(critical_ns) / 1e6 AS ms,
  round(100.0 * sum(critical_ns) / (SELECT sum(critical_ns) FROM overlay_critical), 1) AS percent
FROM overlay_critical
GROUP BY category, name
ORDER BY ms DESC
LIMIT 30;

-- 2. On which threads and streams does it run? (GPU streams are threads of a process "GPU N".)
SELECT process.name AS process, thread.name AS thread, sum(c.critical_ns) / 1e6 AS ms
FROM overlay_critical c
JOIN thread_track ON c.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
GROUP BY thread.utid
ORDER BY ms DESC;

-- 3. Where does the path wait between two events? (The true order is critical_id, then critical_next.)
WITH path AS MATERIALIZED (SELECT * FROM overlay_critical)
SELECT a.name AS before, b.name AS after, (b.ts - (a.ts + a.dur)) / 1e3 AS gap_us
FROM path a
JOIN path b ON b.critical_id = a.critical_next
ORDER BY gap_us DESC
LIMIT 50;

-- 4. Which long kernels do not matter? (Making these faster does not make the run faster.)
SELECT name, count(*) AS events, sum(dur) / 1e6 AS ms
FROM slice
WHERE category IN ('kernel', 'Kernel')
  AND id NOT IN (SELECT id FROM overlay_critical)
GROUP BY name
ORDER BY ms DESC
LIMIT 20;

-- 5. How much of each step is communication that nothing hides?
SELECT step.name AS step,
  round(100.0 * sum(min(c.ts + c.dur, step.ts + step.dur) - max(c.ts, step.ts)) / step.dur, 1) AS percent
FROM slice step
JOIN overlay_critical c ON c.ts < step.ts + step.dur AND c.ts + c.dur > step.ts
WHERE step.name GLOB 'ProfilerStep*' AND step.category NOT GLOB 'gpu_*' AND step.dur > 0 AND c.name GLOB '*nccl*'
GROUP BY step.id
ORDER BY step.ts;
