/**
 * Copies on the same machine. A copy needs nothing of its source, which may be removed: it has all its objects itself,
 * or with the pool it is given.
 */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR, MINUTE } from '../../clock.ts'
import { linkPacks, poolOf, useObjectsOf } from './alternates.ts'
import { folder } from '../process/arguments.ts'
import { git, GitFailed, LONG_LISTING } from '../process/command.ts'
import { hasBitmap, headOf, initialise, packRefs, fillRepository, REFS_FLUSHED_LATER } from './repositories.ts'

export interface CopyOptions {
  /** A repository beside it whose objects the copy uses, and only adds to what they lack. */
  readonly pool?: string | null
  /** Asked once it is known what would be copied, and before anything is. */
  mayTake?(): Promise<boolean>
  readonly signal?: AbortSignal | undefined
}

/** Whoever asked for the copy may not have it. */
export class CopyRefused extends Error {}

/**
 * Branches, tags and HEAD, with the objects these reach and no others: what was pushed over, and what hidden refs keep,
 * does not travel. A target that has refs already is the work of an earlier run and stays.
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
 * What one commit of another repository needs to be here. It is no branch's yet: whoever brings it makes it one soon.
 */
export async function bringCommit(from: string, to: string, id: string): Promise<void> {
  const pool = await poolOf(to)
  const without = [...(await tipsOf(to)), ...(pool === null ? [] : await tipsOf(pool))]
  await copyObjects(from, to, { tips: [id], without, deadline: 10 * MINUTE })
}

/** Branches and tags: what everyone sees who may see the repository. */
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

/** Where all refs point to, hidden ones too. */
export async function tipsOf(dir: string, signal?: AbortSignal): Promise<string[]> {
  const lines = await git(dir, ['for-each-ref', '--format=%(objectname)'], { maxOutput: LONG_LISTING, signal })
  return [...new Set(lines.split('\n').filter((line) => line !== ''))]
}

export interface CopyRequest {
  readonly tips: readonly string[]
  /** Tips the target has, with all they reach. */
  readonly without?: readonly string[]
  readonly deadline?: number
  readonly signal?: AbortSignal | undefined
}

/**
 * One pack, mostly of parts the source has ready; it runs in the copy, so that nothing is ever written to the source.
 */
export async function copyObjects(from: string, to: string, wanted: CopyRequest): Promise<void> {
  const { tips, without = [], deadline = 6 * HOUR, signal } = wanted
  const pack = folder(join(to, 'objects/pack/pack'))
  await git(to, ['pack-objects', '--revs', '--non-empty', '--delta-base-offset', '--quiet', pack], {
    input: [...tips, '--not', ...without, ''].join('\n'),
    // Quoted, or a colon in the path would make it two.
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(from, 'objects')) },
    deadline,
    signal,
  })
}

/** The files of the source, where they hold what is wanted and nothing else; they take no room and hardly any time. */
async function linkObjects(
  from: string,
  to: string,
  tips: readonly string[],
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const packs = join(to, 'objects/pack')
  // Without a bitmap it has not been tidied, and counting takes as long as copying.
  if (!(await hasBitmap(from)) || (await poolOf(from)) !== null) return false
  if ((await linkPacks(from, to)) && (await holdsOnly(to, tips, signal))) return true
  for (const name of await readdir(packs)) await rm(join(packs, name))
  return false
}

async function holdsOnly(dir: string, tips: readonly string[], signal: AbortSignal | undefined): Promise<boolean> {
  const packed = /^in-pack: (\d+)$/m.exec(await git(dir, ['count-objects', '-v'], { signal }))?.[1]
  try {
    const reached = await git(dir, ['rev-list', '--objects', '--count', '--use-bitmap-index', '--stdin'], {
      input: `${tips.join('\n')}\n`,
      deadline: HOUR,
      signal,
    })
    return reached.trim() === packed
  } catch (error) {
    // Some of what is wanted stands in no pack.
    if (error instanceof GitFailed && error.reason === 'exit') return false
    throw error
  }
}
