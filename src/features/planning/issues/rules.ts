import { sql, type RawBuilder } from 'kysely'
import { Reporter } from '../../../lib/levels.ts'
import type { ItemRules } from '../items/readers.ts'
import { LEVEL, isOn } from '../seeing.ts'
import { issueKind } from './kind.ts'
import { issuePolicy, issuesPolicy, type ViewedIssue } from './policy.ts'

/** Who sees an issue. */
export const issueRules = {
  ...issueKind,
  reads: (subject, issue, isTheirs) =>
    issuePolicy.read({ ...subject, issue: { ...(issue as ViewedIssue), assigned: isTheirs } }),
  readsAll: (subject) => issuesPolicy.read(subject) && issuesPolicy.readIssues(subject),
} as const satisfies ItemRules

/** Whether the viewer sees the issue `i`. */
export const seesIssue = (viewer: number): RawBuilder<boolean> => sql`(${isOn('issues')}
  and (not i.confidential or ${LEVEL} >= ${sql.lit(Reporter)} or i.author_id = ${viewer}
    or exists (select 1 from issue_assignees a where a.issue_id = i.id and a.user_id = ${viewer})))`
