/**
 * The feeds that a URL may address: `/group/project.atom`, `/group/project/-/issues.atom`,
 * `…/commits/master?format=atom`.
 */
export type FeedAddress =
  /** The activity of a user, a group or a project. */
  | { readonly of: 'activity'; readonly path: string }
  | { readonly of: 'issues' | 'merge_requests' | 'tags' | 'releases'; readonly path: string }
  /** Possible readings of the rest of the path: a ref, or a ref and a path inside it. */
  | { readonly of: 'commits'; readonly path: string; readonly rests: readonly (readonly string[])[] }

const LISTS = ['issues', 'merge_requests', 'tags', 'releases'] as const
const ENDING = '.atom'

const withoutEnding = (text: string) => (text.endsWith(ENDING) ? text.slice(0, -ENDING.length) : null)

/** The most likely feed first. Empty if the URL addresses no feed. */
export function feedAddresses(segments: readonly string[], format: unknown): FeedAddress[] {
  const last = segments.at(-1) ?? ''
  const plain = withoutEnding(last)
  if (plain === '' || (plain === null && format !== 'atom')) return []
  const names = plain === null ? segments : [...segments.slice(0, -1), plain]
  const dash = segments.indexOf('-', 2)
  // A group can be named `tags`. After a dash, or with the `.atom` ending, the segment can only name the feed.
  const at = dash < 0 ? (names.indexOf('commits', 2) < 0 ? names.length - 1 : names.indexOf('commits', 2)) : dash + 1
  const path = names.slice(0, dash < 0 ? at : dash).join('/')
  const whole: FeedAddress[] = dash < 0 ? [{ of: 'activity', path: names.join('/') }] : []
  if (names[at] === 'commits' && at >= 2) {
    const rests = [names.slice(at + 1), ...(plain === null ? [] : [segments.slice(at + 1)])]
    return [{ of: 'commits', path, rests }, ...(at === names.length - 1 ? whole : [])]
  }
  const list = LISTS.find((name) => name === names[at])
  const isList = list !== undefined && at === names.length - 1 && (dash >= 0 || (plain !== null && at >= 2))
  return isList ? [{ of: list, path }, ...whole] : whole
}
