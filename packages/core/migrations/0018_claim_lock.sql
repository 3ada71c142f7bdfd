-- Older instances go on, and what newer ones close holds for their claims too. Only a rule that an older instance closes may come
-- too late for the claims of newer ones that are under way at that moment.

-- Has no rows and no columns: only its lock is used. To lock a table is no query, which on an idle server is a tenth of a claim's time.
CREATE TABLE signalbox.claim_lock ();
