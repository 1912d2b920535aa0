/** Title prefixes of a draft, which cannot be merged. */

const MARK = /^\s*(?:\[WIP\]|WIP:|WIP(?=\s)|\[Draft\]|\(Draft\)|Draft:)\s*/i

export const isDraft = (title: string): boolean => MARK.test(title)

export function withoutDraft(title: string): string {
  let bare = title
  while (MARK.test(bare)) bare = bare.replace(MARK, '')
  return bare
}

/** Titles of commits that are meant to be squashed into others. */
export const isUnfinishedCommit = (title: string): boolean => /^(?:fixup|squash|amend)! /.test(title) || isDraft(title)
