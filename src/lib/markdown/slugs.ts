const LONGEST_SLUG = 200

/** Anchors of headings: lower case, words joined by hyphens; a number is appended to duplicates. */
export function slugOf(words: string, slugs: Map<string, number>): string {
  const base = words
    .slice(0, LONGEST_SLUG)
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')
  for (;;) {
    const count = slugs.get(base) ?? 0
    slugs.set(base, count + 1)
    const slug = count === 0 ? base : `${base}-${count}`
    if (count === 0 || !slugs.has(slug)) {
      if (count > 0) slugs.set(slug, 1)
      return slug || 'section'
    }
  }
}
