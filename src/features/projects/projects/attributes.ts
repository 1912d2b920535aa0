/** The attributes that create and update share: the input schema and the resulting columns. */
import { z } from 'zod'
import { blankable, bool, file, int, listOf, longText, oneOf, text } from '../../../api/wire.ts'
import { FeatureDisabled, FeatureEnabled, FeaturePrivate, FeaturePublic, VISIBILITIES } from '../../../lib/levels.ts'
import type { RowChange } from '../../../store/database.ts'
import { containerExpirationInput, containerExpirationWith } from './container-expiration.ts'
import { AUTO_DEVOPS_STRATEGIES, GIT_STRATEGIES } from './model.ts'

const FEATURE_LEVELS = {
  disabled: FeatureDisabled,
  private: FeaturePrivate,
  enabled: FeatureEnabled,
  public: FeaturePublic,
}
const featureLevel = oneOf('disabled', 'private', 'enabled').nullish()

export const attributes = {
  description: longText.nullish(),
  visibility: oneOf(...VISIBILITIES).nullish(),
  issues_enabled: bool.nullish(),
  merge_requests_enabled: bool.nullish(),
  jobs_enabled: bool.nullish(),
  builds_enabled: bool.nullish(),
  wiki_enabled: bool.nullish(),
  snippets_enabled: bool.nullish(),
  container_registry_enabled: bool.nullish(),
  repository_access_level: featureLevel,
  issues_access_level: featureLevel,
  merge_requests_access_level: featureLevel,
  builds_access_level: featureLevel,
  wiki_access_level: featureLevel,
  snippets_access_level: featureLevel,
  forking_access_level: featureLevel,
  container_registry_access_level: featureLevel,
  /** Pages can be public even if the project is not. */
  pages_access_level: oneOf('disabled', 'private', 'enabled', 'public').nullish(),
  resolve_outdated_diff_discussions: bool.nullish(),
  shared_runners_enabled: bool.nullish(),
  public_jobs: bool.nullish(),
  public_builds: bool.nullish(),
  only_allow_merge_if_pipeline_succeeds: bool.nullish(),
  only_allow_merge_if_all_discussions_are_resolved: bool.nullish(),
  printing_merge_request_link_enabled: bool.nullish(),
  printing_merge_requests_link_enabled: bool.nullish(),
  lfs_enabled: bool.nullish(),
  request_access_enabled: bool.nullish(),
  remove_source_branch_after_merge: bool.nullish(),
  merge_method: oneOf('merge', 'rebase_merge', 'ff').nullish(),
  squash_option: oneOf('never', 'always', 'default_on', 'default_off').nullish(),
  approvals_before_merge: blankable(int),
  ci_config_path: text.nullish(),
  autoclose_referenced_issues: bool.nullish(),
  allow_merge_on_skipped_pipeline: bool.nullish(),
  suggestion_commit_message: text.nullish(),
  merge_commit_template: text.nullish(),
  squash_commit_template: text.nullish(),
  packages_enabled: bool.nullish(),
  emails_disabled: bool.nullish(),
  emails_enabled: bool.nullish(),
  build_timeout: blankable(int),
  build_git_strategy: oneOf(...GIT_STRATEGIES).nullish(),
  ci_default_git_depth: blankable(int),
  auto_cancel_pending_pipelines: oneOf('disabled', 'enabled').nullish(),
  merge_pipelines_enabled: bool.nullish(),
  keep_latest_artifact: bool.nullish(),
  auto_devops_enabled: bool.nullish(),
  auto_devops_deploy_strategy: oneOf(...AUTO_DEVOPS_STRATEGIES).nullish(),
  container_expiration_policy_attributes: containerExpirationInput,
  repository_storage: text.nullish(),
  import_url: text.nullish(),
  tag_list: listOf(text).nullish(),
  topics: listOf(text).nullish(),
  avatar: z.union([file, z.literal('')]).nullish(),
}

const inputOf = z.object(attributes)
export type AttributeInput = z.infer<typeof inputOf>

/**
 * The boolean fields of the API contract write disabled or enabled. The newer access level fields win if both are
 * given.
 */
const FEATURES = {
  repository_access_level: [],
  issues_access_level: ['issues_enabled'],
  merge_requests_access_level: ['merge_requests_enabled'],
  builds_access_level: ['jobs_enabled', 'builds_enabled'],
  wiki_access_level: ['wiki_enabled'],
  snippets_access_level: ['snippets_enabled'],
  forking_access_level: [],
  container_registry_access_level: ['container_registry_enabled'],
  pages_access_level: [],
} as const

/** Input names that are also column names. */
const PLAIN = [
  'description',
  'resolve_outdated_diff_discussions',
  'shared_runners_enabled',
  'only_allow_merge_if_pipeline_succeeds',
  'only_allow_merge_if_all_discussions_are_resolved',
  'lfs_enabled',
  'request_access_enabled',
  'remove_source_branch_after_merge',
  'merge_method',
  'squash_option',
  'approvals_before_merge',
  'autoclose_referenced_issues',
  'allow_merge_on_skipped_pipeline',
  'suggestion_commit_message',
  'merge_commit_template',
  'squash_commit_template',
  'packages_enabled',
  'build_timeout',
  'build_git_strategy',
  'ci_default_git_depth',
  'auto_cancel_pending_pipelines',
  'merge_pipelines_enabled',
  'keep_latest_artifact',
  'auto_devops_enabled',
  'auto_devops_deploy_strategy',
] as const

/** Null clears these columns. For other columns null is ignored. */
const CLEARABLE: readonly string[] = [
  'description',
  'suggestion_commit_message',
  'merge_commit_template',
  'squash_commit_template',
  'ci_default_git_depth',
]

/** Columns that depend on the input only. Path, visibility, avatar and import need more checks and are not here. */
export function columnsOf(input: Partial<AttributeInput>): RowChange<'projects'> {
  const columns: Record<string, unknown> = {}
  for (const [column, switches] of Object.entries(FEATURES)) {
    const level = input[column as keyof typeof FEATURES]
    const on = switches.map((name) => input[name]).find((value) => value !== undefined && value !== null)
    if (level) columns[column] = FEATURE_LEVELS[level]
    else if (on !== undefined) columns[column] = on ? FeatureEnabled : FeatureDisabled
  }
  for (const name of PLAIN) {
    const value = input[name]
    if (value !== undefined && (value !== null || CLEARABLE.includes(name))) columns[name] = value
  }
  const publicJobs = input.public_jobs ?? input.public_builds
  const emailsDisabled = input.emails_disabled ?? (input.emails_enabled != null ? !input.emails_enabled : null)
  const printing = input.printing_merge_request_link_enabled ?? input.printing_merge_requests_link_enabled
  return {
    ...columns,
    ...(publicJobs != null && { public_jobs: publicJobs }),
    ...(emailsDisabled !== null && { emails_disabled: emailsDisabled }),
    ...(printing != null && { printing_merge_requests_link_enabled: printing }),
    ...(input.ci_config_path !== undefined && { ci_config_path: ciConfigPath(input.ci_config_path) }),
  }
}

const ciConfigPath = (given: string | null) => (given ?? '').replace(/^\/+/, '') || null

/** Omitted fields of the policy keep their value in `before`. */
export function containerExpirationChange(
  before: { container_expiration_policy: string | null } | null,
  { container_expiration_policy_attributes: given }: Partial<AttributeInput>,
): RowChange<'projects'> {
  const stored = before?.container_expiration_policy ?? null
  return given ? { container_expiration_policy: containerExpirationWith(stored, given) } : {}
}

/** In the given order, without duplicates; `topics` is the newer name. */
export function topicsOf({ tag_list, topics }: Partial<AttributeInput>): string[] | undefined {
  const given = topics ?? tag_list
  if (given === undefined || given === null) return undefined
  return [...new Set(given.map((topic) => topic.trim()).filter((topic) => topic !== ''))]
}
