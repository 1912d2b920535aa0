/** Parses ref names from users. */

/**
 * Parses the short or full name of a branch or a tag. Null for other refs: users may not name them, and no protection
 * rule covers them.
 */
export function parseRefName(given: string): { ref: string; tag?: boolean } | null {
  if (!given.startsWith('refs/')) return { ref: given }
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(given) ?? []
  return name === undefined ? null : { ref: name, tag: kind === 'tags' }
}
