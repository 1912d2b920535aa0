/** Parses component addresses, and finds the tag that a partial version means. Pure. */

export interface ComponentRequest {
  readonly project: string
  readonly name: string
  /** The text after the `@`. */
  readonly version: string
  /** Not a commit, a tag or a branch, but `~latest` or a partial version such as `1` or `1.2`. */
  readonly isPart: boolean
  /** Possible files of the component. The first that exists wins. */
  readonly files: readonly string[]
}

/** Parses `host/group/project/name@version`. Null if the address is invalid or names another host. */
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
