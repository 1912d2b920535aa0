import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import {
  BadChange,
  buildCommit,
  type BadChangeReason,
  type Change,
  type CommitWords,
} from '../../../git/objects/building.ts'
import { resolveCommit, type Commit } from '../../../git/objects/commits.ts'
import { bringCommit } from '../../../git/storage/copy.ts'
import { findBranch } from '../../../git/refs/refs.ts'
import { entryAt } from '../../../git/objects/trees.ts'
import { readPointer } from '../../../lib/files/lfs-pointer.ts'
import { assertMayCommit, assertMayPush, landCommit, landWithMutex, messageFrom, signerOf } from '../commits/landing.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { changesBy, type Action } from './actions.ts'
import { lastCommitOf } from '../../../git/history/history.ts'
import { findStart } from './start.ts'

export interface CommitInput {
  readonly branch: string
  readonly commit_message: string
  readonly actions: readonly Action[]
  readonly start_branch?: string | null | undefined
  readonly start_sha?: string | null | undefined
  /** The id or path of another project in the same fork network to start from. */
  readonly start_project?: string | null | undefined
  /** If the branch exists, it is reset to the new commit. */
  readonly force?: boolean | null | undefined
  readonly author_name?: string | null | undefined
  readonly author_email?: string | null | undefined
  /** The error text if the file has changed since the editor loaded it. */
  readonly staleText?: (path: string) => string
}

const ON_NO_BRANCH = 'You can only create or edit files when you are on a branch'

const refuse = (text: string) => new Refusal('bad_request', text)

/** Creates one commit with all actions, or none. */
export async function commitActions(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  input: CommitInput,
): Promise<Commit> {
  await assertMayCommit(app, subject, input.branch)
  await assertMayPush(app, subject, input.branch)
  const land = (subject: RepositorySubject) => commitOnce(app, viewer, subject, input)
  return landWithMutex(app, viewer, subject, input.branch, land, { mayRebuild: !namesCommit(input) })
}

/** A caller who names the base commit does not accept another one. */
const namesCommit = ({ start_sha, start_branch, branch, start_project, actions }: CommitInput) =>
  Boolean(start_sha || start_project || (start_branch && start_branch !== branch)) ||
  actions.some(({ last_commit_id }) => Boolean(last_commit_id))

async function commitOnce(app: App, viewer: User, subject: RepositorySubject, input: CommitInput): Promise<Commit> {
  const { branch, author_name: name, author_email: email } = input
  const start = await findStart(app, viewer, subject, input.start_project)
  if (!start) throw refuse(ON_NO_BRANCH)
  const { base, from, before } = await beginningOf(subject, start, input)
  const changes = await changesBy(groundAt(from, base, input), input.actions)
  if (base !== null && from !== subject.dir) await bringCommit(from, subject.dir, base)
  const committer = signerOf(app, viewer)
  const after = await commitOf(subject.dir, base, changes, {
    message: messageFrom(input.commit_message),
    author: name && email ? { ...committer, name, email } : committer,
    committer,
  })
  const origin = { pointers: changes.some(isPointer), isForeign: from !== subject.dir }
  return landCommit(app, viewer, subject, { branch, before, after, ...origin })
}

const isPointer = (change: Change) =>
  'content' in change && change.content !== null && readPointer(Buffer.from(change.content)) !== null

interface Beginning {
  /** The base commit and its repository. Null for a first commit. */
  readonly base: string | null
  readonly from: string
  /** The current tip of the branch. Null if the branch does not exist yet. */
  readonly before: string | null
}

async function beginningOf(
  subject: RepositorySubject,
  start: RepositorySubject,
  { branch, start_branch, start_sha, force }: CommitInput,
): Promise<Beginning> {
  const tipOf = async (dir: string, name: string) => (await findBranch(dir, name))?.id ?? null
  // A repository may have tags before it has a branch. A named start commit must exist.
  const isFirst = start.project.empty_repo && !start_sha
  const before = await tipOf(subject.dir, branch)
  const startBranch = start_branch || branch
  const isElsewhere = start !== subject || Boolean(start_sha) || startBranch !== branch
  const from = isFirst ? subject.dir : start.dir
  const started = () => (start_sha ? resolveCommit(from, start_sha) : tipOf(from, startBranch))
  const base = isElsewhere && !isFirst ? await started() : before
  if (base === null && !isFirst) throw refuse(ON_NO_BRANCH)
  if (isElsewhere && before !== null && !force)
    throw refuse(`A branch called '${branch}' already exists. Switch to that branch in order to make changes`)
  if (!isBranchName(branch))
    throw refuse(`Something went wrong when we tried to create '${branch}' for you: Branch name is invalid`)
  return { base, from, before }
}

const staleFile = (path: string) => `The file has changed since you started editing it: ${path}`

function groundAt(dir: string, base: string | null, { staleText = staleFile }: CommitInput) {
  return {
    dir,
    base,
    async assertUnchanged(path: string, lastCommit: string) {
      const last = base === null ? null : await lastCommitOf(dir, base, path)
      if (last !== null && last !== lastCommit) throw refuse(staleText(path))
    },
  }
}

const FAULTS: Record<BadChangeReason, string> = {
  name: 'Path is not valid',
  twice: 'A file with this name already exists',
  missing: "A file with this name doesn't exist",
  'folder in the way': 'A directory with this name already exists',
  'file in the way': 'A file with this name already exists',
}

async function commitOf(
  dir: string,
  base: string | null,
  changes: readonly Change[],
  words: CommitWords,
): Promise<string> {
  try {
    return await buildCommit(dir, base, changes, words)
  } catch (error) {
    throw error instanceof BadChange ? refuse(FAULTS[error.reason]) : error
  }
}

export interface SubmoduleInput {
  readonly path: string
  readonly branch: string
  readonly commit_sha: string
  readonly commit_message?: string | null | undefined
}

/** Sets the commit of a submodule. Only the other repository knows whether that commit exists. */
export async function moveSubmodule(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  input: SubmoduleInput,
): Promise<Commit> {
  await assertMayPush(app, subject, input.branch)
  const land = (subject: RepositorySubject) => moveSubmoduleOnce(app, viewer, subject, input)
  return landWithMutex(app, viewer, subject, input.branch, land)
}

async function moveSubmoduleOnce(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  { path, branch, commit_sha: id, commit_message }: SubmoduleInput,
): Promise<Commit> {
  const { dir } = subject
  const tip = (await findBranch(dir, branch))?.id
  if (tip === undefined) throw refuse(ON_NO_BRANCH)
  const entry = await entryAt(dir, tip, path)
  if (entry?.type !== 'commit') throw refuse('Invalid submodule path')
  if (entry.id === id) throw refuse(`The submodule ${entry.path} is already at ${id}`)
  const author = signerOf(app, viewer)
  const after = await commitOf(dir, tip, [{ path: entry.path, id, mode: '160000' }], {
    message: messageFrom(commit_message || `Update submodule ${entry.path} with oid ${id}`),
    author,
    committer: author,
  })
  return landCommit(app, viewer, subject, { branch, before: tip, after })
}
