import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { writeCommit, type Signer } from '../../../git/objects/building.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Person } from '../../../git/objects/identities.ts'
import { cherryPick, revertCommit, type MergeResult } from '../../../git/merging/merging.ts'
import { findBranch } from '../../../git/refs/refs.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { assertMayCommit, assertMayPush, landCommit, landWithMutex, messageFrom, signerOf } from './landing.ts'

export interface PickInput {
  readonly branch: string
  readonly message?: string | null | undefined
  /** Checks whether the operation would succeed, without changing anything. */
  readonly dry_run?: boolean | null | undefined
}

/** Null for a dry run. */
export function pickCommit(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  commit: Commit,
  input: PickInput,
): Promise<Commit | null> {
  return redo(app, viewer, subject, input, {
    what: 'cherry-pick',
    merge: (tip) => cherryPick(subject.dir, { commit: commit.id, onto: tip }),
    message: input.message
      ? messageFrom(input.message)
      : `${commit.message.trimEnd()}\n\n(cherry picked from commit ${commit.id})`,
    author: asSigner(commit.author),
  })
}

/** Null for a dry run. */
export function undoCommit(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  commit: Commit,
  input: PickInput,
): Promise<Commit | null> {
  return redo(app, viewer, subject, input, {
    what: 'revert',
    merge: (tip) => revertCommit(subject.dir, { commit: commit.id, onto: tip }),
    message: `Revert "${commit.title}"\n\nThis reverts commit ${commit.id}`,
    author: signerOf(app, viewer),
  })
}

interface Redoing {
  readonly what: keyof typeof DONE
  merge(tip: string): Promise<MergeResult | null>
  readonly message: string
  readonly author: Signer
}

/** Applies the changes of a commit, or their reverse, on top of a branch. */
async function redo(
  app: App,
  viewer: User,
  subject: RepositorySubject,
  input: PickInput,
  { what, merge, message, author }: Redoing,
): Promise<Commit | null> {
  const { branch } = input
  await assertMayCommit(app, subject, branch)
  const seen = await tipOf(subject, branch)
  await assertMayPush(app, subject, branch)
  if (input.dry_run) {
    treeFrom(await merge(seen), what, input)
    return null
  }
  return landWithMutex(app, viewer, subject, branch, async (subject) => {
    const tip = await tipOf(subject, branch)
    const tree = treeFrom(await merge(tip), what, input)
    const committer = signerOf(app, viewer)
    const after = await writeCommit(subject.dir, { tree, parents: [tip], message, author, committer })
    return landCommit(app, viewer, subject, { branch, before: tip, after })
  })
}

async function tipOf({ dir }: RepositorySubject, branch: string): Promise<string> {
  const found = await findBranch(dir, branch)
  if (!found) throw notFound('Branch')
  return found.id
}

const DONE = { 'cherry-pick': 'cherry-picked', revert: 'reverted' } as const

function treeFrom(result: MergeResult | null, verb: keyof typeof DONE, { dry_run }: PickInput): string {
  if (result?.tree !== undefined) return result.tree
  const message =
    `Sorry, we cannot ${verb} this commit automatically. This commit may already have been ${DONE[verb]}, ` +
    'or a more recent commit may have updated some of its content.'
  const body = { message, error_code: result ? 'conflict' : 'empty', ...(dry_run && { dry_run: 'error' }) }
  throw new Refusal('bad_request', message, { body })
}

function asSigner({ name, email, date, offset }: Person): Signer {
  const two = (n: number) => String(Math.floor(n)).padStart(2, '0')
  const minutes = Math.abs(offset)
  return { name, email, date, zone: `${offset < 0 ? '-' : '+'}${two(minutes / 60)}${two(minutes % 60)}` }
}
