/** Puts a commit that the server created onto a branch, with all permission checks. */
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden, notFound } from '../../../errors.ts'
import type { Signer } from '../../../git/objects/building.ts'
import { findCommit, type Commit } from '../../../git/objects/commits.ts'
import { tooLong } from '../../../lib/text/faults.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { changeRefs, webPusher } from '../gate/service.ts'
import { withBranchMutex } from '../gate/branch-mutex.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { loadRepositorySubject } from '../repositories/queries.ts'
import { mayCommitTo, mayPushTo } from '../repositories/rights.ts'

export const signerOf = ({ clock }: App, { name, email }: User): Signer => ({ name, email, date: clock.now() })

/** The part of the permission check that needs the name of the branch. */
export async function assertMayCommit(app: App, subject: RepositorySubject, branch: string): Promise<void> {
  if (!(await mayCommitTo(app, subject, branch))) throw forbidden()
}

/** Checked early, before any work. The gate checks again. */
export async function assertMayPush(app: App, subject: RepositorySubject, branch: string): Promise<void> {
  if ((await mayPushTo(app, subject, branch)).push) return
  throw new Refusal('bad_request', 'You are not allowed to push into this branch')
}

const LONGEST_MESSAGE = 65_536

/** Normalizes line endings in the caller's message. */
export function messageFrom(text: string): string {
  if (text.length <= LONGEST_MESSAGE) return text.replaceAll('\r', '')
  throw new Refusal('bad_request', `Commit message ${tooLong(LONGEST_MESSAGE)}`)
}

export interface Landing {
  readonly branch: string
  /** The tip of the branch that the caller saw. Null creates the branch. */
  readonly before: string | null
  /** The new commit. Its objects are already in the repository. */
  readonly after: string
  /** Whether the files may contain Git LFS pointers that the repository did not have before. */
  readonly pointers?: boolean
  /** Whether the base commit comes from another repository. */
  readonly isForeign?: boolean
}

/** `land` gets the current repository once it has the mutex. */
export function landWithMutex(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  branch: string,
  land: (subject: RepositorySubject) => Promise<Commit>,
  options: { mayRebuild?: boolean } = {},
): Promise<Commit> {
  const reload = async () => {
    const project = await findProjectById(app.db, subject.project.id)
    if (!project) throw notFound('Project')
    return loadRepositorySubject(app, project, viewer)
  }
  return withBranchMutex(subject.dir, branch, async (isLate) => land(isLate ? await reload() : subject), options)
}

export async function landCommit(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  { branch, before, after, pointers = false, isForeign = false }: Landing,
): Promise<Commit> {
  const update = { ref: `refs/heads/${branch}`, before, after }
  const origin = { pointers: pointers || isForeign, unsigned: !isForeign }
  await changeRefs(app, webPusher(viewer, subject.level), subject, [update], origin)
  return (await findCommit(subject.dir, after))!
}
