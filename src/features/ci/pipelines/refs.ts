/** Refs as people write them. */

/**
 * A branch or a tag by its short name or by its whole one. Null of other refs: those are nobody's to name, and no rule
 * of protection knows them.
 */
export function parseRefName(given: string): { ref: string; tag?: boolean } | null {
  if (!given.startsWith('refs/')) return { ref: given }
  const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(given) ?? []
  return name === undefined ? null : { ref: name, tag: kind === 'tags' }
}
