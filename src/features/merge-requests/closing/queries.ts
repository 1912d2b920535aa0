/** Issues that merging a merge request closes, according to its texts and commits. */
import type { App, User } from '../../../context.ts'
import { listCommits } from '../../../git/history/history.ts'
import { closingReferences, type ClosingReference } from '../../../lib/text/closing.ts'
import { findNamedIssue } from '../../planning/quick-actions/arguments.ts'
import type { IssueSubject } from '../../planning/issues/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import type { MergeRequest } from '../merge-requests/model.ts'

const MOST_COMMITS = 1000
/** Further references are ignored. */
const MOST_REFERENCES = 100

type Read = Pick<MergeRequest, 'title' | 'description' | 'target_branch' | 'base_sha' | 'head_sha'>

/** Merging into another branch than the default branch closes nothing. */
async function closingTexts(subject: RepositorySubject, one: Read): Promise<string[]> {
  const { project, dir } = subject
  if (one.target_branch !== project.default_branch) return []
  const { head_sha: head, base_sha: base } = one
  const commits =
    head === null || head === base
      ? []
      : await listCommits(dir, { from: head, not: base === null ? [] : [base], limit: MOST_COMMITS })
  return [one.title, one.description ?? '', ...commits.map(({ message }) => message)]
}

export interface Closing {
  readonly issues: readonly IssueSubject[]
  /** Issues of external trackers. */
  readonly external: readonly string[]
}

/** Only issues that the viewer may see. Commits of a fork do not close issues of the fork's origin. */
export async function findClosing(app: App, viewer: User, subject: RepositorySubject, one: Read): Promise<Closing> {
  const named = new Map<string, ClosingReference>()
  for (const text of await closingTexts(subject, one)) {
    for (const reference of closingReferences(text, app.url)) named.set(JSON.stringify(reference), reference)
  }
  const issues = new Map<number, IssueSubject>()
  const external: string[] = []
  for (const reference of [...named.values()].slice(0, MOST_REFERENCES)) {
    if (reference.kind === 'external') external.push(reference.name)
    else {
      const found = await findNamedIssue(app, viewer, subject, reference)
      if (found && found.project.id !== subject.project.forked_from_id) issues.set(found.issue.id, found)
    }
  }
  return { issues: [...issues.values()], external }
}
