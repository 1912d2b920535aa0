import type { App, User } from '../../../context.ts'
import { conflict } from '../../../errors.ts'
import { changedPaths } from '../../../git/history/changed-paths.ts'
import { BadChange, buildCommit, type Change, type FileMode } from '../../../git/objects/building.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { entryAt, listTree } from '../../../git/objects/trees.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { signerOf } from '../commits/landing.ts'
import { withBranchMutex } from '../gate/branch-mutex.ts'
import { webPusher } from '../gate/service.ts'
import { changeWiki } from '../gate/wikis.ts'
import { pageOfFile } from '../wikis/pages.ts'
import { listPages } from '../wikis/queries.ts'
import { MOVED, PRUNED } from './refusals.ts'
import type { RefChange } from './model.ts'

const CHANGED = 'The pages of this change have changed since'
const BRANCHES = 'refs/heads/'
/** A change of a page touches one or two files. A push may touch more. */
const MOST_FILES = 100

/**
 * Undoes a change of a wiki after later changes of other pages, with a new commit: the files of the change become what
 * they were. Returns the commit.
 */
export async function revertWikiChange(
  app: App,
  actor: User,
  subject: ProjectSubject,
  { ref, before, after }: RefChange,
): Promise<string> {
  if (!ref.startsWith(BRANCHES) || after === null) throw conflict(MOVED)
  const dir = wikiDir(app, subject.project)
  return withBranchMutex(dir, ref.slice(BRANCHES.length), async () => {
    const tip = await resolveCommit(dir, ref)
    if (tip === null) throw conflict(MOVED)
    const known = await Promise.all([before ?? after, after].map((id) => resolveCommit(dir, id)))
    if (known.includes(null)) throw conflict(PRUNED)
    const changes = await reverse(dir, { before, after, tip })
    await assertNoTwins(app, subject, tip, changes)
    const signer = signerOf(app, actor)
    const words = {
      message: `${actor.username} undid a change: ${after.slice(0, 8)}`,
      author: signer,
      committer: signer,
    }
    const commit = await committed(dir, tip, changes, words)
    await changeWiki(app, webPusher(actor, subject.level), subject, [{ ref, before: tip, after: commit }])
    return commit
  })
}

interface States {
  readonly before: string | null
  readonly after: string
  readonly tip: string
}

/** Refuses if one of the files has changed again. */
async function reverse(dir: string, { before, after, tip }: States): Promise<Change[]> {
  const paths = before === null ? await allPaths(dir, after) : await changedPaths(dir, before, after, MOST_FILES)
  const later = await changedPaths(dir, after, tip, Infinity)
  if (!paths || paths.length > MOST_FILES || !later) throw conflict(MOVED)
  const touched = new Set(later)
  if (paths.length === 0 || paths.some((path) => touched.has(path))) throw conflict(CHANGED)
  return Promise.all(paths.map((path) => changeTo(dir, before, path)))
}

const allPaths = async (dir: string, commit: string) =>
  ((await listTree(dir, commit, '', { recursive: true })) ?? []).map(({ path }) => path)

async function changeTo(dir: string, before: string | null, path: string): Promise<Change> {
  const entry = before === null ? null : await entryAt(dir, before, path)
  return entry ? { path, id: entry.id, mode: entry.mode as FileMode } : { path, content: null }
}

/** Slugs are unique, whatever the case and the format of their files. */
async function assertNoTwins(
  app: App,
  { project }: ProjectSubject,
  tip: string,
  changes: readonly Change[],
): Promise<void> {
  const changed = new Set(changes.map(({ path }) => path))
  const pages = await listPages(app, project, tip)
  const taken = new Set(pages.filter(({ path }) => !changed.has(path)).map(({ slug }) => slug.toLowerCase()))
  const restored = changes.filter((change) => 'id' in change).map(({ path }) => pageOfFile(path)?.slug.toLowerCase())
  if (restored.some((slug) => slug !== undefined && taken.has(slug))) throw conflict(CHANGED)
}

async function committed(...[dir, tip, changes, words]: Parameters<typeof buildCommit>): Promise<string> {
  try {
    return await buildCommit(dir, tip, changes, words)
  } catch (error) {
    throw error instanceof BadChange ? conflict(CHANGED) : error
  }
}
