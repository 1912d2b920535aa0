/** Addresses of components, and which of a project's tags a part of a version means. Pure. */

export interface ComponentRequest {
  readonly project: string
  readonly name: string
  /** As it stands after the `@`. */
  readonly version: string
  /** Not a commit, a tag or a branch, but `~latest`, or the beginning of a version: `1`, `1.2`. */
  readonly isPart: boolean
  /** Where it may stand, the first that is there. */
  readonly files: readonly string[]
}

/** `host/group/project/name@version`; null where it is none of this host. */
export function componentIn(address: string, host: string): ComponentRequest | null {
  const [, server, path, version] = /^([^/]+)\/(.+)@([^@]+)$/.exec(address) ?? []
  const at = path?.lastIndexOf('/') ?? -1
  if (!path || !version || server !== host || at < 0) return null
  const name = path.slice(at + 1)
  return {
    project: path.slice(0, at),
    name,
    version,
    isPart: version === '~latest' || /^\d+(\.\d+)?$/.test(version),
    files: [`templates/${name}.yml`, `templates/${name}/template.yml`],
  }
}

export const isVersion = (tag: string): boolean => /^v?\d+\.\d+\.\d+$/.test(tag)

/** `tags`: the newest version first. */
export function versionAmong(tags: Iterable<string>, version: string): string | null {
  for (const name of tags)
    if (isVersion(name) && (version === '~latest' || name.replace(/^v/, '').startsWith(`${version}.`))) return name
  return null
}
