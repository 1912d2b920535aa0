/** What relative URLs of a text are resolved against: uploads of its project, and files in a repository. */

/** URLs without a trailing slash. */
export interface LinkBases {
  /** The URL of the project, below which its uploads are. */
  readonly project?: string | null
  /** The URL of the folder that relative links start from, and the root for links with a leading slash. */
  readonly links?: { readonly root: string; readonly folder: string } | null
  /** The same for images, which need raw files. */
  readonly pictures?: { readonly root: string; readonly folder: string } | null
}

const UPLOAD = /^\/uploads\/[0-9a-f]{32}\/[^/]+$/

export function locator(linkBases: LinkBases): (address: string, kind: 'link' | 'picture') => string {
  return (address, kind) => {
    if (linkBases.project && UPLOAD.test(address)) return linkBases.project + address
    const start = kind === 'picture' ? linkBases.pictures : linkBases.links
    if (!start || address.startsWith('?')) return address
    if (address.startsWith('/')) return joined(start.root, [], address)
    return joined(start.root, start.folder.split('/'), address)
  }
}

/** `..` leads no higher than the root. */
function joined(root: string, folder: readonly string[], address: string): string {
  const [, path = '', rest = ''] = /^([^?#]*)(.*)$/s.exec(address) ?? []
  const parts: string[] = []
  for (const part of [...folder, ...path.split('/')]) {
    if (part === '..') parts.pop()
    else if (part !== '' && part !== '.') parts.push(part)
  }
  return `${root}/${parts.join('/')}${rest}`
}
