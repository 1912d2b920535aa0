/**
 * Refs that the server keeps for itself besides branches and tags. Hiding them is tidiness, not access control: a
 * client that knows the id of an object may fetch it.
 */

/** Useless to clients. */
export const HIDDEN: readonly string[] = ['refs/keep-around', 'refs/tmp', 'refs/remotes', 'refs/pools', 'refs/undo']

/** Clients may fetch them but not push to them. */
const READ_ONLY: readonly string[] = ['refs/merge-requests', 'refs/environments', 'refs/pipelines']

const OURS = [...HIDDEN, ...READ_ONLY].map((space) => `${space}/`)

/** Ignores case, because on some file systems `refs/TMP/x` is the same file as `refs/tmp/x`. */
export function isForPushes(ref: string): boolean {
  const name = `${ref.toLowerCase()}/`
  return !OURS.some((space) => name.startsWith(space))
}
