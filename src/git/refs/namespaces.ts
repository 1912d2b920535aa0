/**
 * Refs the product keeps for itself, beside everyone's branches and tags. To hide them is tidiness, no access control:
 * who knows an object's id may ask for it.
 */

/** Of no use to a client. */
export const HIDDEN: readonly string[] = ['refs/keep-around', 'refs/tmp', 'refs/remotes', 'refs/pools']

/** To be fetched, never pushed. */
const READ_ONLY: readonly string[] = ['refs/merge-requests', 'refs/environments', 'refs/pipelines']

const OURS = [...HIDDEN, ...READ_ONLY].map((space) => `${space}/`)

/** Whatever the case: on some disks `refs/TMP/x` is the file of `refs/tmp/x`. */
export function isForPushes(ref: string): boolean {
  const name = `${ref.toLowerCase()}/`
  return !OURS.some((space) => name.startsWith(space))
}
