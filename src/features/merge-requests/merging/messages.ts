/** What the commits of a merge say where nobody said otherwise. */

export interface MergeWords {
  readonly source: string
  readonly target: string
  readonly title: string
  /** As they are written in the project. */
  readonly closes: readonly string[]
  /** `group/project!1` */
  readonly reference: string
}

export function mergeMessage({ source, target, title, closes, reference }: MergeWords): string {
  const blocks = [
    `Merge branch '${source}' into '${target}'`,
    title,
    ...(closes.length > 0 ? [`Closes ${listed(closes)}`] : []),
    `See merge request ${reference}`,
  ]
  return blocks.join('\n\n')
}

/** `#1`, `#1 and #2`, `#1, #2, and #3`. */
function listed(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ')
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`
}
