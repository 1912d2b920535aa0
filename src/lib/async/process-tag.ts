/**
 * Tags for files and databases that a process creates; another process can tell from a tag that its creator has ended.
 */
import { createHash } from 'node:crypto'
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import { hasCode } from '../files/system-errors.ts'

/**
 * A process id is meaningful only on one machine, until it reboots, and in one container. A folder or a database server
 * may be shared with other machines.
 */
const MACHINE = createHash('sha256')
  .update(textOf(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')) || hostname())
  .update(textOf(() => readlinkSync('/proc/self/ns/pid')))
  .digest('hex')
  .slice(0, 8)

/** Process ids are reused, but not with the same start time. */
const tagOf = (pid: number) => `${MACHINE}_${pid}_${startOf(pid)}`

export const PROCESS_TAG = tagOf(process.pid)

export const TAG_PATTERN = /[0-9a-f]{8}_\d+_\d+/

/** Whether the process id of the tag belongs to another machine or container. */
export const isElsewhere = (tag: string): boolean => tag.split('_', 1)[0] !== MACHINE

/** False in doubt, for example for a process of another machine. The tag may be followed by more text. */
export function hasProcessEnded(tag: string): boolean {
  const [machine, pid, start] = tag.split('_')
  return machine === MACHINE && (!isAlive(Number(pid)) || tagOf(Number(pid)) !== [machine, pid, start].join('_'))
}

/** The processes of this instance as registered in the store; null until the store was watched for a while. */
let known: ReadonlySet<string> | null = null

export function noteLiving(tags: readonly string[]): void {
  known = new Set(tags.flatMap((tag) => TAG_PATTERN.exec(tag)?.[0] ?? []))
}

/** The same for a process of this instance, on any machine. */
export const hasMemberEnded = (tag: string): boolean =>
  isElsewhere(tag) ? known !== null && !known.has(tag) : hasProcessEnded(tag)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !hasCode(error, 'ESRCH')
  }
}

/** In ticks since boot; 0 if the system does not tell. */
function startOf(pid: number): string {
  const stat = textOf(() => readFileSync(`/proc/${pid}/stat`, 'utf8'))
  // The program name, in parentheses, may contain anything.
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '0'
}

function textOf(read: () => string): string {
  try {
    return read()
  } catch {
    return ''
  }
}
