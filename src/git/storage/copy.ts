/**
 * Copies repositories on the same machine. A copy does not depend on its source, which may be deleted: it has all its
 * objects itself, or together with its pool.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR, MINUTE } from '../../clock.ts'
import { linkPacks, poolOf, useObjectsOf } from './alternates.ts'
import { folder } from '../process/arguments.ts'
import { git, GitFailed, LONG_LISTING } from '../process/command.ts'
import { hasBitmap, headOf, initialise, packRefs, fillRepository, REFS_FLUSHED_LATER } from './repositories.ts'

export interface CopyOptions {
  /** A repository whose objects the copy uses. The copy stores only objects that the pool lacks. */
  readonly pool?: string | null
  /** Called when the content to copy is known, and before anything is copied. */
  mayTake?(): Promise<boolean>
  readonly signal?: AbortSignal | undefined
}

/** The user may not copy the source any more. */
export class CopyRefused extends Error {}

/**
 * Copies branches, tags and HEAD with the objects that they reach, and no others: overwritten commits, and objects that
 * hidden refs keep, are not copied. A target with refs is the result of an earlier run and stays.
 */
export async function copyRepository(
  from: string,
  to: string,
  { pool = null, mayTake, signal }: CopyOptions = {},
): Promise<void> {
  await fillRepository(to, async (draft) => {
    await initialise(draft, (await headOf(from)) ?? 'master')
    const refs = await publishedRefs(from, signal)
    if (mayTake && !(await mayTake())) throw new CopyRefused()
    if (refs.length === 0) return
    const tips = [...new Set(refs.map(({ id }) => id))]
    if (pool !== null) {
      await useObjectsOf(draft, pool)
      await copyObjects(from, draft, { tips, without: await tipsOf(pool, signal), signal })
    } else if (!(await linkObjects(from, draft, tips, signal))) await copyObjects(from, draft, { tips, signal })
    const input = refs.map(({ id, name }) => `create ${name} ${id}\n`).join('')
    await git(draft, ['update-ref', '--stdin'], { input, config: REFS_FLUSHED_LATER, deadline: HOUR, signal })
    await packRefs(draft, signal)
  })
}

/**
 * Copies all objects that one commit of another repository needs. No ref points to the commit yet; the caller must
 * create one soon.
 */
export async function bringCommit(from: string, to: string, id: string): Promise<void> {
  const pool = await poolOf(to)
  const without = [...(await tipsOf(to)), ...(pool === null ? [] : await tipsOf(pool))]
  await copyObjects(from, to, { tips: [id], without, deadline: 10 * MINUTE })
}

/** Branches and tags, which everybody who may read the repository sees. */
export async function publishedRefs(dir: string, signal?: AbortSignal): Promise<{ id: string; name: string }[]> {
  const lines = await git(dir, ['for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags'], {
    maxOutput: LONG_LISTING,
    signal,
  })
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ id: line.slice(0, 40), name: line.slice(41) }))
}

/** The targets of all refs, hidden ones included. */
export async function tipsOf(dir: string, signal?: AbortSignal): Promise<string[]> {
  const lines = await git(dir, ['for-each-ref', '--format=%(objectname)'], { maxOutput: LONG_LISTING, signal })
  return [...new Set(lines.split('\n').filter((line) => line !== ''))]
}

export interface CopyRequest {
  readonly tips: readonly string[]
  /** Tips that the target has, with everything that they reach. */
  readonly without?: readonly string[]
  readonly deadline?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Creates one pack, mostly from data that the source has ready. Runs in the copy, so that nothing is ever written to
 * the source.
 */
export async function copyObjects(from: string, to: string, request: CopyRequest): Promise<void> {
  const { tips, without = [], deadline = 6 * HOUR, signal } = request
  const pack = folder(join(to, 'objects/pack/pack'))
  await git(to, ['pack-objects', '--revs', '--non-empty', '--delta-base-offset', '--quiet', pack], {
    input: [...tips, '--not', ...without, ''].join('\n'),
    // Quoted, because a colon in the path would separate two paths.
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(from, 'objects')) },
    deadline,
    signal,
  })
}

/**
 * Hard-links the files of the source, if they contain exactly the wanted objects. This takes no space and hardly any
 * time.
 */
async function linkObjects(
  from: string,
  to: string,
  tips: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const packs = join(to, 'objects/pack')
  // Without a bitmap, the source had no housekeeping, and counting takes as long as copying.
  if (!(await hasBitmap(from)) || (await poolOf(from)) !== null) return false
  if ((await linkPacks(from, to)) && (await hasOnly(to, tips, signal))) return true
  for (const name of await readdir(packs)) await rm(join(packs, name))
  return false
}

async function hasOnly(dir: string, tips: readonly string[], signal: AbortSignal | undefined): Promise<boolean> {
  const packed = /^in-pack: (\d+)$/m.exec(await git(dir, ['count-objects', '-v'], { signal }))?.[1]
  try {
    const reached = await git(dir, ['rev-list', '--objects', '--count', '--use-bitmap-index', '--stdin'], {
      input: `${tips.join('\n')}\n`,
      deadline: HOUR,
      signal,
    })
    return reached.trim() === packed
  } catch (error) {
    // Some of the wanted objects are in no pack.
    if (error instanceof GitFailed && error.reason === 'exit') return false
    throw error
  }
}
