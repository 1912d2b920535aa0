/** The rules of paths: what users, groups and projects may be called in an address. */
import { trimEnds } from '../text/trimming.ts'

/** Path segments of users and groups. */
export const PATH_FORMAT = /^[A-Za-z0-9_.][A-Za-z0-9_.-]*$/
const FORBIDDEN_END = /(\.|\.git|\.atom)$/i

export const PATH_FORMAT_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'."

export const isPath = (path: string): boolean => PATH_FORMAT.test(path) && !FORBIDDEN_END.test(path)

/** First segments of our own addresses, which no user and no top-level group may take. */
const TOP_LEVEL = new Set(
  `- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png
  apple-touch-icon.png assets autocomplete boards ci dashboard deploy.html explore favicon.ico files groups health_check
  help import invites jwt koding notification_settings oauth profile projects public robots.txt s search
  sent_notifications slash-command-logo.png snippets u unicorn_test unsubscribes uploads users`.split(/\s+/),
)

export const isReservedAtTop = (path: string): boolean => TOP_LEVEL.has(path.toLowerCase())

/** Segments that stand in addresses below a project, or below a group. */
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

/** A project's path must be fit for both texts; each that is not is told. */
export function projectPathFaults(path: string): string[] {
  const faults = isPath(path) ? [] : [PATH_FORMAT_TEXT]
  const fits = PATH_FORMAT.test(path) && !/(\.git|\.atom)$/i.test(path)
  return fits ? faults : [...faults, PROJECT_PATH_TEXT]
}

/** Letters that do not come apart into a plain letter and a mark. */
const SPELT: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ı: 'i' }

/** A path made of a name: ASCII, lower case, dashes between the words. Empty where nothing is left of it. */
export const pathOf = (name: string): string => trimEnds(asciiOf(name), (character) => character === '-')

const asciiOf = (name: string) =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðłþı]/g, (letter) => SPELT[letter]!)
    .replace(/[^a-z0-9_-]+/g, '-')
