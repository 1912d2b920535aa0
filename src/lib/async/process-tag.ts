/** Names for what a process leaves outside itself, by which another can tell that it is gone. */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from '../files/system-errors.ts'

/**
 * The number of a process means something only on one machine, until it starts anew, and in one container: a folder or
 * a database server may be shared with others.
 */
const PLACE = createHash('sha256')
  .update(textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) || hostname())
  .update(textOf(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 8)

/** Numbers of processes are used again, but not with the same time of start. */
const tagOf = (pid: number) => `${PLACE}_${pid}_${startOf(pid)}`

export const PROCESS_TAG = tagOf(process.pid)

export const TAG_PATTERN = /[0-9a-f]{8}_\d+_\d+/

/** Where its number means nothing here. */
export const isElsewhere = (tag: string): boolean => tag.split('_', 1)[0] !== PLACE

/** In doubt, as with a process of another machine, it is not. More may follow the tag. */
export function hasProcessEnded(tag: string): boolean {
  const [place, pid, start] = tag.split('_')
  return place === PLACE && (!isAlive(Number(pid)) || tagOf(Number(pid)) !== [place, pid, start].join('_'))
}

/** Processes that work on the same instance, as its store knows them; null until it was watched for a while. */
let known: ReadonlySet<string> | null = null

export function noteLiving(tags: readonly string[]): void {
  known = new Set(tags.flatMap((tag) => TAG_PATTERN.exec(tag)?.[0] ?? []))
}

/** The same of a process that works on the instance, wherever it runs. */
export const hasMemberEnded = (tag: string): boolean =>
  isElsewhere(tag) ? known !== null && !known.has(tag) : hasProcessEnded(tag)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

/** In ticks since the machine started; 0 where the system does not tell. */
function startOf(pid: number): string {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The name of the program, in parentheses, may hold anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function textOf(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
