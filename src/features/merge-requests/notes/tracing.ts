/** Finds the lines of threads in a newer version, from the diff between both. Each diff is read once. */
import { diffBetween, HARD_LIMITS, type Diff, type FileDiff } from '../../../git/history/diffs.ts'
import { lazily } from '../../../lib/async/lazily.ts'
import {
  diffLines,
  lineCode,
  type DiffLine,
  type StoredPosition,
  type Position,
} from '../../planning/notes/positions.ts'
import { changesBetween } from '../versions/measure.ts'

export interface VersionEnds {
  readonly base_sha: string | null
  readonly start_sha: string | null
  readonly head_sha: string | null
}

/** Null: the line no longer exists, or the diff is too large to tell. */
export type Trace = (position: Position) => Promise<StoredPosition | null>

const NOTHING: Diff = { files: [], overflow: false }

/** Files beyond the limits stay in the list, without content. */
const between = async (dir: string, from: string | null, to: string | null): Promise<Diff | null> =>
  from === to ? NOTHING : to === null ? null : diffBetween(dir, from, to, { limits: HARD_LIMITS, beyond: 'collapse' })

export function tracer(dir: string, from: VersionEnds, to: VersionEnds): Trace {
  const heads = lazily(() => between(dir, from.head_sha, to.head_sha))
  const bases = lazily(() => between(dir, from.base_sha, to.base_sha))
  const changes = lazily(async () => {
    if (to.base_sha === null || to.head_sha === null) return null
    return changesBetween(dir, to.base_sha, to.head_sha)
  })
  const lines = new Map<FileDiff, DiffLine[]>()
  const linesOf = (file: FileDiff) => lines.get(file) ?? lines.set(file, [...diffLines(file.patch)]).get(file)!

  /** The same line of the same file, even if the file was renamed. */
  function follow(diff: Diff | null, path: string, line: number): { path: string; line: number } | null {
    const file = diff?.files.find(({ oldPath, newFile }) => oldPath === path && !newFile)
    if (!diff || (!file && diff.overflow)) return null
    if (!file) return { path, line }
    if (isUnknown(file) || file.deletedFile) return null
    const found = lineAfter(linesOf(file), line)
    return found === null ? null : { path: file.newPath, line: found }
  }

  async function newSide(path: string, line: number): Promise<Line | null> {
    const moved = follow(await heads(), path, line)
    const file = moved && (await changes())?.files.find(({ newPath }) => newPath === moved.path)
    if (!file || isUnknown(file)) return null
    const named = linesOf(file).find(({ type, now }) => type !== 'old' && now === moved.line)
    // Lines between two hunks are unchanged, so both sides have them.
    return { file, named: named ?? { type: null, old: lineBefore(linesOf(file), moved.line), now: moved.line } }
  }

  async function oldSide(path: string, line: number): Promise<Line | null> {
    const moved = follow(await bases(), path, line)
    const file = moved && (await changes())?.files.find(({ oldPath }) => oldPath === moved.path)
    const named = file && linesOf(file).find(({ type, old }) => type === 'old' && old === moved.line)
    return named ? { file, named } : null
  }

  async function lineOf({ new_path, old_path, new_line, old_line, start_sha }: Position): Promise<Line | null> {
    if (new_line !== null) return newSide(new_path ?? '', new_line)
    // A line of an earlier version is on neither side of the new diff.
    if (old_line === null || start_sha !== from.start_sha) return null
    return oldSide(old_path ?? '', old_line)
  }

  async function rangeOf({ line_range, ...position }: Position): Promise<Position['line_range']> {
    if (!line_range) return null
    const ends = await Promise.all(
      [line_range.start, line_range.end].map(async (end) => {
        const line = end && (await lineOf({ ...position, line_range: null, ...end }))
        if (!line) return null
        const { type, ...sides } = { type: line.named.type, ...sidesOf(line.named) }
        return { line_code: lineCode(line.file.newPath, line.named), type, ...sides }
      }),
    )
    const [start, end] = ends
    return start && end ? { start, end } : null
  }

  async function traceFile(position: Position, ends: Ends): Promise<StoredPosition | null> {
    const [whole, since] = await Promise.all([changes(), heads()])
    const file = whole?.files.find(({ newPath }) => newPath === position.new_path)
    const isOther = !since || since.files.some(({ oldPath }) => oldPath === position.new_path)
    if (!file || (position.position_type === 'image' && isOther)) return null
    return { position: { ...position, ...ends, old_path: file.oldPath }, line_code: null }
  }

  return async (position) => {
    if (to.head_sha === null) return null
    const ends: Ends = { base_sha: to.base_sha, start_sha: to.start_sha, head_sha: to.head_sha }
    if (position.position_type !== 'text') return traceFile(position, ends)
    const found = await lineOf(position)
    if (!found) return null
    const { file, named } = found
    return {
      position: {
        ...position,
        ...ends,
        old_path: file.oldPath,
        new_path: file.newPath,
        ...sidesOf(named),
        line_range: await rangeOf(position),
      },
      line_code: lineCode(file.newPath, named),
    }
  }
}

type Ends = Pick<Position, 'base_sha' | 'start_sha' | 'head_sha'>

interface Line {
  readonly file: FileDiff
  readonly named: DiffLine
}

const isUnknown = ({ binary, tooLarge, collapsed }: FileDiff) => binary || tooLarge || collapsed

/** An added line has no number on the old side, and a removed one none on the new side. */
const sidesOf = ({ type, old, now }: DiffLine) => ({
  old_line: type === 'new' ? null : old,
  new_line: type === 'old' ? null : now,
})

/** The new number of a line of the old side. Null: the line was removed. */
export function lineAfter(patch: readonly DiffLine[], line: number): number | null {
  let shift = 0
  for (const { type, old, now } of patch) {
    if (old > line) break
    if (type !== 'new' && old === line) return type === 'old' ? null : now
    shift = type === 'new' ? now + 1 - old : type === 'old' ? now - old - 1 : now - old
  }
  return line + shift
}

/** The reverse, for a line outside all hunks. */
function lineBefore(patch: readonly DiffLine[], line: number): number {
  let shift = 0
  for (const { type, old, now } of patch) {
    if (now > line) break
    shift = type === 'new' ? old - now - 1 : type === 'old' ? old + 1 - now : old - now
  }
  return line + shift
}
