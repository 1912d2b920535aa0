/**
 * Quick actions on the repository. They run after the transaction of the text, because a transaction must wait only for
 * the database.
 */
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { App, User } from '../../../context.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { createBranch } from '../../repository/branches/service.ts'
import { repositoryPolicy, type RepositorySubject } from '../../repository/repositories/policy.ts'
import { createTag } from '../../repository/tags/service.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { IssueSubject } from '../issues/policy.ts'
import { addSystemNotes } from '../notes/system.ts'

const LONGEST_SLUG = 60

/** `12-the-mill-jams` */
export function branchNameOf({ iid, title }: { readonly iid: number; readonly title: string }): string {
  const words =
    title
      .normalize('NFKD')
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? []
  return [iid, ...words].join('-').slice(0, LONGEST_SLUG).replace(/-$/, '')
}

const codeOf = (app: App, subject: IssueSubject): RepositorySubject => ({
  ...subject,
  dir: repositoryDir(app, subject.project),
})

/** Not for confidential issues: the branch name contains the title, and everyone who can fetch sees it. */
export const mayBranch = (app: App, subject: IssueSubject, branch: string): boolean =>
  !subject.issue.confidential && isBranchName(branch) && repositoryPolicy.push(codeOf(app, subject))

/** Creates the branch from the default branch, and adds a note to the issue. */
export async function branchFrom(app: App, actor: User, subject: IssueSubject, branch: string): Promise<void> {
  const { project, issue } = subject
  const code = codeOf(app, subject)
  await createBranch(app, actor, code, { branch, ref: project.default_branch })
  const link = pageBelow(webUrlOf(app, subject), `compare/${project.default_branch}...${branch}`)
  const body = `created branch [\`${branch}\`](${link})`
  await transact(app, async (app) => {
    await addSystemNotes(app, actor, { project_id: project.id, issue_id: issue.id }, [{ action: 'branch', body }])
    await emit(app, 'issue.branched', { id: issue.id, project_id: project.id, by: actor.id, branch })
  })
}

/** `v1.0 What is in it`: an annotated tag where a message follows the name. */
export function tagOrder(argument: string): { name: string; message: string } | null {
  const [, name = '', message = ''] = /^(\S+)(?: +(.*))?$/.exec(argument) ?? []
  return isBranchName(name) ? { name, message: message.trim() } : null
}

export async function tagCommit(
  app: App,
  actor: User,
  subject: RepositorySubject,
  sha: string,
  { name, message }: { name: string; message: string },
): Promise<void> {
  await createTag(app, actor, subject, { tag_name: name, ref: sha, ...(message !== '' && { message }) })
}
