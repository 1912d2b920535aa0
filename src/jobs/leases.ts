/**
 * Leases of jobs and of delivery queues. A lease names the process that claimed a row, and ends at a time. It is also a
 * fence: the next claim writes a later lease, and a process that has lost its lease can no longer change the row.
 */
import { sql } from 'kysely'
import { after, type Clock } from '../clock.ts'
import type { Row } from '../store/database.ts'

type Lease = Pick<Row<'jobs'>, 'lease_until' | 'lease_holder'>

export const NO_LEASE: Lease = { lease_until: null, lease_holder: null }

export function newLease(
  { clock, holder }: { clock: Clock; holder: string },
  ms: number,
): { lease_until: string; lease_holder: string } {
  return { lease_until: after(clock, ms), lease_holder: holder }
}

export const isLeaseOver = (now: string) => sql<boolean>`(lease_until is null or lease_until < ${now})`

export const hasLease = ({ lease_until, lease_holder }: Lease) =>
  sql<boolean>`lease_until = ${lease_until} and lease_holder = ${lease_holder}`

const LONGEST_BACKOFF_MS = 3_600_000

/** Milliseconds until the next attempt, with jitter. */
export const backoff = (attempts: number, firstMs: number) =>
  Math.min(LONGEST_BACKOFF_MS, firstMs * 2 ** attempts) * (0.75 + Math.random() / 2)
