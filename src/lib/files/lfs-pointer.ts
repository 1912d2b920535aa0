/** The small text file that stands in git for a file in Git LFS. */

export interface Pointer {
  /** SHA-256 of the content. */
  readonly oid: string
  readonly size: number
}

/** A longer file is no pointer. */
export const LONGEST_POINTER = 1024

const VERSIONS = ['https://git-lfs.github.com/spec/v1', 'https://hawser.github.com/spec/v1']

/** Null for any other file. */
export function readPointer(content: Uint8Array): Pointer | null {
  if (content.length === 0 || content.length > LONGEST_POINTER) return null
  const [version, ...lines] = Buffer.from(content).toString().split('\n')
  if (!VERSIONS.some((known) => version === `version ${known}`)) return null
  const [, oid] = one(lines, /^oid sha256:([0-9a-f]{64})$/)
  const [, size] = one(lines, /^size (\d{1,15})$/)
  return oid === undefined || size === undefined ? null : { oid, size: Number(size) }
}

/** The match of the only line with this form. */
function one(lines: readonly string[], form: RegExp): (string | undefined)[] {
  const found = lines.map((line) => form.exec(line)).filter((match) => match !== null)
  return found.length === 1 ? found[0]! : []
}
