/** Reads parts of a long log: its end, lines from a number on, bytes from an offset on, and search matches. */
import { StringDecoder } from 'node:string_decoder'
import type { App } from '../../../context.ts'
import type { Job } from './model.ts'
import { openTrace } from './traces.ts'

export const MOST_BYTES = 512 * 1024
const MOST_LINES = 5000
/** The maximum of lines on one page: rendering more would block other requests. */
const MOST_DRAWN_LINES = 1000
const MOST_MATCHES = 100
const LONGEST_MATCH = 300
/** Searches a longer line in pieces. */
const LONGEST_LINE = 1024 * 1024
const NEWLINE = 10
// oxlint-disable-next-line no-control-regex -- what terminals are told begins with it
const TERMINAL_CODE = /\u001b\[[0-9;?]*[A-Za-z]/g

export interface TracePart {
  /** Byte offsets in the log: start and end of the part, and the size of the log. */
  readonly start: number
  readonly end: number
  readonly size: number
  /** The number of the first line, from 1. Null if the lines before were not counted. */
  readonly line: number | null
  readonly content: string
}

/** Whole lines from the end of the log, as many as one page shows. */
export async function lastPart(app: App, job: Job): Promise<TracePart> {
  const size = job.trace_size
  const from = Math.max(0, size - MOST_BYTES)
  const tail: Buffer[] = []
  let [at, line] = [0, 1]
  for await (const chunk of chunksOf(app, job)) {
    const before = chunk.subarray(0, Math.max(0, from - at))
    line += countLines(before)
    if (before.length < chunk.length) tail.push(chunk.subarray(before.length))
    at += chunk.length
  }
  let bytes = Buffer.concat(tail)
  const starts = startsOfLines(bytes)
  // The first bytes are the end of a cut line.
  const whole = from > 0 && starts.length > 1 ? 1 : 0
  const first = Math.max(whole, starts.length - MOST_DRAWN_LINES)
  bytes = bytes.subarray(starts[first])
  return { start: at - bytes.length, end: at, size: at, line: line + first, content: bytes.toString() }
}

/** Lines from this number on, or the last lines if the log has fewer. */
export async function partFromLine(app: App, job: Job, lineNumber: number): Promise<TracePart> {
  const found: Buffer[] = []
  let [at, line, start, length] = [0, 1, 0, 0]
  for await (const chunk of chunksOf(app, job)) {
    let from = 0
    while (line < lineNumber && from < chunk.length) {
      const end = chunk.indexOf(NEWLINE, from)
      if (end < 0) from = chunk.length
      else [from, line] = [end + 1, line + 1]
    }
    if (line === lineNumber && from < chunk.length) {
      if (length === 0) start = at + from
      found.push(chunk.subarray(from))
      length += chunk.length - from
    }
    at += chunk.length
    if (length >= MOST_BYTES) break
  }
  if (length === 0) return lastPart(app, job)
  const bytes = cutLines(Buffer.concat(found), MOST_DRAWN_LINES, start, job.trace_size)
  return { start, end: start + bytes.length, size: job.trace_size, line, content: bytes.toString() }
}

/** The bytes written since this offset. */
export async function partFromByte(app: App, job: Job, start: number): Promise<TracePart> {
  const size = job.trace_size
  const found: Buffer[] = []
  let length = 0
  if (start < size)
    for await (const chunk of chunksOf(app, job, start)) {
      found.push(chunk)
      length += chunk.length
      if (length >= MOST_BYTES) break
    }
  const bytes = cutLines(Buffer.concat(found), MOST_LINES, start, size)
  return { start, end: start + bytes.length, size, line: null, content: bytes.toString() }
}

async function* chunksOf(app: App, job: Job, start = 0): AsyncGenerator<Buffer> {
  const log = job.trace_size > 0 ? await openTrace(app, job, start) : null
  if (log) for await (const chunk of log) yield chunk as Buffer
}

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++
  return count
}

function startsOfLines(bytes: Buffer): number[] {
  const starts = [0]
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1))
    if (at + 1 < bytes.length) starts.push(at + 1)
  return starts
}

/** Cuts to a maximum of lines. If more bytes follow, only whole lines remain. */
function cutLines(bytes: Buffer, lines: number, start: number, size: number): Buffer {
  const end = startsOfLines(bytes)[lines]
  const most = bytes.subarray(0, Math.min(end ?? MOST_BYTES, MOST_BYTES))
  if (start + most.length >= size) return most
  const last = most.lastIndexOf(NEWLINE)
  return last < 0 ? most : most.subarray(0, last + 1)
}

export interface TraceMatches {
  readonly matches: { readonly line: number; readonly text: string }[]
  /** There are more matches than listed. */
  readonly more: boolean
}

/** Finds lines that contain a text, ignoring case. */
export async function searchTrace(app: App, job: Job, search: string): Promise<TraceMatches> {
  const needle = search.toLowerCase()
  const matches: { line: number; text: string }[] = []
  const decoder = new StringDecoder('utf8')
  let [line, rest] = [1, '']
  const look = (raw: string) => {
    const text = raw.includes('\u001b') ? raw.replace(TERMINAL_CODE, '') : raw
    const at = text.toLowerCase().indexOf(needle)
    if (at < 0) return
    const from = Math.max(0, at - LONGEST_MATCH / 2)
    matches.push({ line, text: text.slice(from, from + LONGEST_MATCH).trim() })
  }
  for await (const chunk of chunksOf(app, job)) {
    const lines = (rest + decoder.write(chunk)).split('\n')
    rest = lines.pop()!
    for (const one of lines) {
      look(one)
      line++
    }
    if (rest.length > LONGEST_LINE) {
      look(rest)
      rest = ''
    }
    if (matches.length > MOST_MATCHES) break
  }
  if (rest !== '') look(rest)
  return { matches: matches.slice(0, MOST_MATCHES), more: matches.length > MOST_MATCHES }
}
