/** Positions of notes on diffs. */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import { entity, int, oneOf, text } from '../../../api/wire.ts'
import type { FileDiff } from '../../../git/history/diffs.ts'

const line = int.nullish()
const rangeEnd = z.object({
  line_code: text.nullish(),
  type: oneOf('new', 'old', 'expanded').nullish(),
  old_line: line,
  new_line: line,
})

export const positionInput = z.object({
  base_sha: text,
  start_sha: text,
  head_sha: text,
  position_type: oneOf('text', 'image', 'file'),
  old_path: text.nullish(),
  new_path: text.nullish(),
  old_line: line,
  new_line: line,
  line_range: z.object({ start: rangeEnd.nullish(), end: rangeEnd.nullish() }).nullish(),
  width: int.nullish(),
  height: int.nullish(),
  x: z.coerce.number().nullish(),
  y: z.coerce.number().nullish(),
})

export type PositionInput = z.infer<typeof positionInput>

const rangeEndOut = entity({
  line_code: z.string().nullable(),
  type: z.string().nullable(),
  old_line: z.int().nullable(),
  new_line: z.int().nullable(),
})

export const PositionEntity = entity({
  base_sha: z.string().nullable(),
  start_sha: z.string().nullable(),
  head_sha: z.string(),
  old_path: z.string().nullable(),
  new_path: z.string().nullable(),
  position_type: z.string(),
  old_line: z.int().nullable(),
  new_line: z.int().nullable(),
  line_range: entity({ start: rangeEndOut.nullable(), end: rangeEndOut.nullable() }).nullable(),
  width: z.int().nullable().optional(),
  height: z.int().nullable().optional(),
  x: z.number().nullable().optional(),
  y: z.number().nullable().optional(),
}).meta({ id: 'NotePosition' })

export type Position = z.infer<typeof PositionEntity>

/** The stored form. */
export interface StoredPosition {
  readonly position: Position
  readonly line_code: string | null
  /** The position when it was written, where it can move. */
  readonly original?: Position | null
}

export interface DiffEnds {
  readonly base: string | null
  /** The commit to compare with, where that is not the base. */
  readonly start?: string | null
  readonly head: string
}

/** A line of a patch. An added line has the number it would have on the old side, and vice versa. */
export interface DiffLine {
  readonly type: 'new' | 'old' | null
  readonly old: number
  readonly now: number
}

export function* diffLines(patch: string): Generator<DiffLine> {
  let [old, now] = [0, 0]
  for (const line of patch.split('\n')) {
    const header = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (header) [old, now] = [Number(header[1]), Number(header[2])]
    else if (line[0] === '+') yield { type: 'new', old, now: now++ }
    else if (line[0] === '-') yield { type: 'old', old: old++, now }
    else if (line[0] === ' ') yield { type: null, old: old++, now: now++ }
  }
}

export const lineCode = (path: string, { old, now }: DiffLine) =>
  `${createHash('sha1').update(path).digest('hex')}_${old}_${now}`

/** An added line has its new number, a removed one its old number, an unchanged one both. */
function isNamed({ type, old, now }: DiffLine, { old_line, new_line }: Pick<PositionInput, 'old_line' | 'new_line'>) {
  if (type === 'new') return new_line === now && !old_line
  if (type === 'old') return old_line === old && !new_line
  return old_line === old && new_line === now
}

/** Null: the position is not in the diff. */
export function storedPosition(
  files: readonly FileDiff[],
  { base, start = base, head }: DiffEnds,
  given: PositionInput,
): StoredPosition | null {
  const path = given.new_path ?? given.old_path
  const file = files.find(({ newPath, oldPath }) => path === (given.new_path ? newPath : oldPath))
  if (!file) return null
  const { position_type, old_line = null, new_line = null, width, height, x, y } = given
  const found = position_type === 'text' ? lineIn(file, { old_line, new_line }) : null
  if (position_type === 'text' && !found) return null
  const { oldPath: old_path, newPath: new_path } = file
  const ends = { base_sha: base, start_sha: start, head_sha: head }
  const lines = { old_line, new_line, line_range: rangeOf(given) }
  const image = position_type === 'image' && {
    width: width ?? null,
    height: height ?? null,
    x: x ?? null,
    y: y ?? null,
  }
  return {
    position: { ...ends, old_path, new_path, position_type, ...lines, ...image },
    line_code: found && lineCode(new_path, found),
  }
}

function lineIn({ patch }: FileDiff, lines: Pick<PositionInput, 'old_line' | 'new_line'>): DiffLine | null {
  for (const line of diffLines(patch)) if (isNamed(line, lines)) return line
  return null
}

function rangeOf({ line_range }: PositionInput): Position['line_range'] {
  if (!line_range) return null
  const end = (one: z.infer<typeof rangeEnd> | null | undefined) =>
    one
      ? {
          line_code: one.line_code ?? null,
          type: one.type ?? null,
          old_line: one.old_line ?? null,
          new_line: one.new_line ?? null,
        }
      : null
  return { start: end(line_range.start), end: end(line_range.end) }
}
