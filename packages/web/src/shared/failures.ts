/** What has failed and is tried by nobody and nothing again: the same list for the badge and for the overview. */
export const FAILED_FOR_GOOD = "task-runs?status=FAILED&newest=true&limit=100";
