-- Which version was the largest that ended DONE on a resource: a smaller one is refused (docs/guide/gates.md). Instances of before
-- go on beside new ones; what they settle does not count here.

CREATE TABLE signalbox.done_version (
  name    text PRIMARY KEY,
  version bigint[] NOT NULL
);
INSERT INTO signalbox.done_version (name, version)
SELECT r.name, max(k.version)
  FROM signalbox.task AS k
 CROSS JOIN LATERAL jsonb_to_recordset(k.resources) AS r (name text)
 WHERE k.version IS NOT NULL
   AND EXISTS (SELECT FROM signalbox.task_run AS t WHERE t.task_id = k.id AND t.status = 'DONE')
 GROUP BY r.name;

-- step
-- It may start although a larger version is DONE.
ALTER TABLE signalbox.task ADD COLUMN out_of_order boolean NOT NULL DEFAULT false;
