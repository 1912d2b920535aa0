/** The rules for paths of users, groups and projects in URLs. */
import { trimEnds } from '../text/trimming.ts'

/** Path segments of users and groups. */
const PATH_FORMAT = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/
const FORBIDDEN_END = /(\.|\.git|\.atom)$/i

export const PATH_FORMAT_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."

export const isPath = (path: string): boolean => PATH_FORMAT.test(path) && !FORBIDDEN_END.test(path)

/** First segments of our own URLs, which no user and no top-level group may have. */
const TOP_LEVEL = new Set(
  `- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png
  apple-touch-icon.png assets autocomplete boards ci dashboard deploy.html explore favicon.ico files groups health_check
  help import invites jwt koding notification_settings oauth profile projects public robots.txt s search
  sent_notifications slash-command-logo.png snippets u unicorn_test unsubscribes uploads users`.split(/\s+/),
)

export const isReservedAtTop = (path: string): boolean => TOP_LEVEL.has(path.toLowerCase())

/** Segments that URLs below a project or a group use. */
const BELOW_GROUPS = new Set(
  `- badges blame blob builds commits create create_dir edit environments files find_file gitlab-lfs info new preview
  raw refs tree update wikis`.split(/\s+/),
)
const SUBGROUPS = new Set(
  `activity analytics audit_events avatar group_members hooks issues labels ldap ldap_group_links merge_requests
  milestones notification_setting pipeline_quota projects subgroups`.split(/\s+/),
)

export const isReservedForProject = (path: string): boolean => BELOW_GROUPS.has(path.toLowerCase())
export const isReservedForSubgroup = (path: string): boolean =>
  isReservedForProject(path) || SUBGROUPS.has(path.toLowerCase())

export const PROJECT_PATH_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"

/** A project's path must satisfy two rules; every violated rule is reported. */
export function projectPathFaults(path: string): string[] {
  const faults = isPath(path) ? [] : [PATH_FORMAT_TEXT]
  const fits = PATH_FORMAT.test(path) && !/(\.git|\.atom)$/i.test(path)
  return fits ? faults : [...faults, PROJECT_PATH_TEXT]
}

/** Letters that do not decompose into a plain letter and a mark. */
const SPELT: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i' }

/** A path made from a name: ASCII, lower case, words joined by dashes. Empty if nothing is left. */
export const pathOf = (name: string): string => trimEnds(asciiOf(name), (character) => character === '-')

const asciiOf = (name: string) =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðłþı]/g, (letter) => SPELT[letter]!)
    .replace(/[^a-z0-9_-]+/g, '-')
