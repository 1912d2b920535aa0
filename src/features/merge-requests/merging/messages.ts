/** Default messages of merge commits, from the project's template or the built-in one. */

export interface MergeWords {
  readonly source: string
  readonly target: string
  readonly title: string
  readonly description: string
  /** References as written inside the project. */
  readonly closes: readonly string[]
  /** `group/project!1` */
  readonly reference: string
  /** The short reference inside the project: `!1`. */
  readonly local: string
  readonly url: string
  /** `Jane <jane@example.org>` */
  readonly author: string
  readonly merger: string
  readonly approvers: readonly string[]
  readonly reviewers: readonly string[]
  /** The message of the first commit. */
  readonly commit: string
}

const MERGE = `Merge branch '%{source_branch}' into '%{target_branch}'

%{title}

%{issues}

See merge request %{reference}`

const SQUASH = '%{title}'

export const mergeMessage = (words: MergeWords, template: string | null): string => filled(template || MERGE, words)
export const squashMessage = (words: MergeWords, template: string | null): string => filled(template || SQUASH, words)

const trailers = (name: string, people: readonly string[]) => people.map((one) => `${name}: ${one}`).join('\n')

const VALUES: Record<string, (words: MergeWords) => string> = {
  source_branch: ({ source }) => source,
  target_branch: ({ target }) => target,
  title: ({ title }) => title,
  description: ({ description }) => description,
  issues: ({ closes }) => (closes.length === 0 ? '' : `Closes ${listed(closes)}`),
  reference: ({ reference }) => reference,
  local_reference: ({ local }) => local,
  url: ({ url }) => url,
  first_commit: ({ commit }) => commit,
  merge_request_author: ({ author }) => author,
  merged_by: ({ merger }) => merger,
  approved_by: ({ approvers }) => trailers('Approved-by', approvers),
  reviewed_by: ({ reviewers }) => trailers('Reviewed-by', reviewers),
  co_authored_by: ({ author }) => trailers('Co-authored-by', [author]),
}

/** Removes a line whose placeholders are all empty, and then a second blank line. */
function filled(template: string, words: MergeWords): string {
  const lines = template
    .replaceAll('\r', '')
    .split('\n')
    .flatMap((line) => {
      let isNamed = false
      const text = line.replaceAll(/%\{([a-z_]+)\}/g, (whole, name: string) => {
        const value = Object.hasOwn(VALUES, name) ? VALUES[name]!(words) : null
        isNamed ||= value !== null
        return value ?? whole
      })
      return isNamed && text.trim() === '' ? [] : [text]
    })
  return lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
}

/** `#1`, `#1 and #2`, `#1, #2, and #3`. */
function listed(names: readonly string[]): string {
  if (names.length < 3) return names.join(' and ')
  return `${names.slice(0, -1).join(', ')}, and ${names.at(-1)}`
}
