/** Versions in tags and headings: `1.2.3`, with an optional `v` before it and optional suffixes. */

const PATTERN = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]{1,100})?$/

export interface Version {
  readonly numbers: readonly number[]
  readonly isPreview: boolean
}

export function parseVersion(text: string): Version | null {
  const [, major, minor, patch, preview] = PATTERN.exec(text) ?? []
  if (major === undefined) return null
  return { numbers: [major, minor, patch].map(Number), isPreview: preview !== undefined }
}

/** Negative if `a` is older. A pre-release is older than its release. */
export function compareVersions(a: Version, b: Version): number {
  const at = a.numbers.findIndex((number, n) => number !== b.numbers[n])
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!
  return Number(b.isPreview) - Number(a.isPreview)
}
