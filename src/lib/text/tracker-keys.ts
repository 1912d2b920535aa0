/** References to issues of external trackers, and the URLs of these issues. */

/** The key is in a group of the pattern. */
interface Spelling {
  readonly pattern: RegExp
}

const KEY = /(?<![\p{L}\p{N}_/.-])([A-Z][A-Z0-9_]{0,63}-\d{1,10})(?![\p{L}\p{N}_-])/gu

const SPELLINGS: Readonly<Record<string, Spelling>> = {
  jira: { pattern: KEY },
  bugzilla: { pattern: KEY },
  redmine: { pattern: KEY },
  'custom-issue-tracker': { pattern: KEY },
  youtrack: { pattern: /(?<![\p{L}\p{N}_/.-])([A-Za-z][A-Za-z0-9_]{0,63}-\d{1,10})(?![\p{L}\p{N}_-])/gu },
  ewm: { pattern: /(?<![\p{L}\p{N}_])(?:bug|task|work item|workitem|rtcwi|defect) (\d{1,10})(?![\p{L}\p{N}_])/giu },
  clickup: {
    pattern: /(?<![\p{L}\p{N}_/.-])(?:(?:#|CU-)([a-z0-9]{6,12})|([A-Z0-9_]{2,10}-\d{1,10}))(?![\p{L}\p{N}_-])/gu,
  },
  phorge: { pattern: /(?<![\p{L}\p{N}_/.-])T(\d{1,10})(?![\p{L}\p{N}_-])/gu },
  zentao: { pattern: /(?<![\p{L}\p{N}_/.-])((?:bug|task|story)-\d{1,10})(?![\p{L}\p{N}_-])/giu },
}

/** Slugs of the integrations that are issue trackers. */
export const TRACKERS: readonly string[] = Object.keys(SPELLINGS)

export interface TrackerKey {
  /** As written. */
  readonly text: string
  readonly key: string
  readonly start: number
  readonly end: number
}

const MOST_KEYS = 500

/** In order, at most `most`. */
export function trackerKeysIn(text: string, slug: string, most = MOST_KEYS): TrackerKey[] {
  const spelling = SPELLINGS[slug]
  if (!spelling) return []
  const found: TrackerKey[] = []
  for (const match of text.matchAll(spelling.pattern)) {
    if (found.length >= most) break
    const key = match[1] ?? match[2]!
    found.push({ text: match[0], key, start: match.index, end: match.index + match[0].length })
  }
  return found
}

/** The external tracker of a project's issues. */
export interface Tracker {
  readonly slug: string
  /** With `:id` (or `:issue_id`) in place of the key; `:kind` and `:number` are its parts. */
  readonly issuesUrl: string
  /** Whether a plain number refers to an issue of the tracker: the project then has no issues here. */
  readonly hasNumbers: boolean
}

export function addressOfKey({ issuesUrl }: Pick<Tracker, 'issuesUrl'>, key: string): string {
  const [kind = '', number = ''] = key.split('-')
  const parts: Readonly<Record<string, string>> = { id: key, issue_id: key, kind: kind.toLowerCase(), number }
  return issuesUrl.replace(/:(issue_id|id|kind|number)(?![A-Za-z0-9_])/g, (_, name: string) =>
    encodeURIComponent(parts[name]!),
  )
}
