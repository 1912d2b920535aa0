/** Versions as tags and headings name them: `1.2.3`, perhaps after a `v`, perhaps with more behind. */

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

/** Negative where `a` comes first; a preview comes before what it is a preview of. */
export function compareVersions(a: Version, b: Version): number {
  const at = a.numbers.findIndex((number, n) => number !== b.numbers[n])
  if (at >= 0) return a.numbers[at]! - b.numbers[at]!
  return Number(b.isPreview) - Number(a.isPreview)
}
