/** URLs of uploads in a text, which contain 32 hex digits below their project. */

const ADDRESS = /\/uploads\/([0-9a-f]{32})\//g

export const uploadSecrets = (text: string): string[] => Array.from(text.matchAll(ADDRESS), ([, secret]) => secret!)

export interface UploadMove {
  /** The full paths of the two projects. */
  readonly from: string
  readonly to: string
  /** The new secret for each old one. */
  readonly secrets: ReadonlyMap<string, string>
}

/** `/uploads/…` and `/group/engine/uploads/…`, anywhere in the text. URLs that are not in `secrets` stay unchanged. */
export function moveUploadAddresses(text: string, { from, to, secrets }: UploadMove): string {
  if (secrets.size === 0) return text
  let result = ''
  let at = 0
  for (const { 0: address, 1: secret = '', index } of text.matchAll(ADDRESS)) {
    const moved = secrets.get(secret)
    if (moved === undefined) continue
    const before = text.slice(at, index)
    const isWhole = before.endsWith(`/${from}`)
    result += `${isWhole ? before.slice(0, -from.length) + to : before}/uploads/${moved}/`
    at = index + address.length
  }
  return result + text.slice(at)
}
