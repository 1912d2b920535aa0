import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { FeatureDisabled, FeatureEnabled, FeaturePublic, VISIBILITIES } from '../../../lib/levels.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { Row } from '../../../store/database.ts'
import { CustomAttributeEntity } from '../../identity/custom-attributes.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'
import { ContainerExpirationEntity, presentContainerExpiration } from './container-expiration.ts'
import { AUTO_DEVOPS_STRATEGIES, GIT_STRATEGIES, IMPORT_STATUSES } from './model.ts'
import { hasFeature, type Feature } from './policy.ts'

const simple = {
  id: z.int(),
  description: z.string().nullable(),
  default_branch: z.string().nullable(),
  tag_list: z.array(z.string()),
  topics: z.array(z.string()),
  ssh_url_to_repo: z.string(),
  http_url_to_repo: z.string(),
  web_url: z.string(),
  readme_url: z.string().nullable(),
  name: z.string(),
  name_with_namespace: z.string(),
  path: z.string(),
  path_with_namespace: z.string(),
  star_count: z.int(),
  forks_count: z.int(),
  created_at: timestampOut,
  last_activity_at: timestampOut,
  /** With `with_custom_attributes`, for administrators. */
  custom_attributes: z.array(CustomAttributeEntity).optional(),
  /** On request only. */
  license_url: z.string().nullable().optional(),
  license: entity({
    key: z.string(),
    name: z.string(),
    nickname: z.string().nullable(),
    html_url: z.string().nullable(),
    source_url: z.string().nullable(),
  })
    .nullable()
    .optional(),
}

/** The record for anonymous visitors, for `simple=true`, and for the source of a fork. */
export const SimpleProjectEntity = entity(simple).meta({ id: 'SimpleProject' })

const featureLevel = z.enum(['disabled', 'private', 'enabled'])
const membership = entity({ access_level: z.int(), notification_level: z.int() }).nullable()

export const ProjectEntity = entity({
  ...simple,
  archived: z.boolean(),
  /** The day of the deletion, for a project in the bin. */
  marked_for_deletion_at: dateOut.nullable(),
  marked_for_deletion_on: dateOut.nullable(),
  /** In lists, for a project in the bin. Null after the removal of the user. */
  deleted_by: UserSummaryEntity.nullable().optional(),
  visibility: z.enum(VISIBILITIES),
  empty_repo: z.boolean(),
  updated_at: timestampOut,
  creator_id: z.int().nullable(),
  namespace: entity({
    id: z.int(),
    name: z.string(),
    path: z.string(),
    kind: z.enum(['user', 'group']),
    full_path: z.string(),
    parent_id: z.int().nullable(),
  }),
  owner: entity({ id: z.int(), name: z.string(), created_at: timestampOut }).optional(),
  issues_enabled: z.boolean(),
  merge_requests_enabled: z.boolean(),
  wiki_enabled: z.boolean(),
  jobs_enabled: z.boolean(),
  snippets_enabled: z.boolean(),
  container_registry_enabled: z.boolean(),
  repository_access_level: featureLevel,
  issues_access_level: featureLevel,
  merge_requests_access_level: featureLevel,
  builds_access_level: featureLevel,
  wiki_access_level: featureLevel,
  snippets_access_level: featureLevel,
  forking_access_level: featureLevel,
  container_registry_access_level: featureLevel,
  pages_access_level: z.enum(['disabled', 'private', 'enabled', 'public']),
  resolve_outdated_diff_discussions: z.boolean(),
  shared_runners_enabled: z.boolean(),
  lfs_enabled: z.boolean(),
  public_jobs: z.boolean(),
  ci_config_path: z.string().nullable(),
  autoclose_referenced_issues: z.boolean(),
  allow_merge_on_skipped_pipeline: z.boolean(),
  suggestion_commit_message: z.string().nullable(),
  merge_commit_template: z.string().nullable(),
  squash_commit_template: z.string().nullable(),
  packages_enabled: z.boolean(),
  emails_disabled: z.boolean(),
  emails_enabled: z.boolean(),
  build_timeout: z.int(),
  build_git_strategy: z.enum(GIT_STRATEGIES),
  ci_default_git_depth: z.int().nullable(),
  auto_cancel_pending_pipelines: z.enum(['disabled', 'enabled']),
  merge_pipelines_enabled: z.boolean(),
  keep_latest_artifact: z.boolean(),
  auto_devops_enabled: z.boolean(),
  auto_devops_deploy_strategy: z.enum(AUTO_DEVOPS_STRATEGIES),
  container_expiration_policy: ContainerExpirationEntity,
  repository_storage: z.string(),
  only_allow_merge_if_pipeline_succeeds: z.boolean(),
  only_allow_merge_if_all_discussions_are_resolved: z.boolean(),
  printing_merge_requests_link_enabled: z.boolean(),
  printing_merge_request_link_enabled: z.boolean(),
  request_access_enabled: z.boolean(),
  merge_method: z.enum(['merge', 'rebase_merge', 'ff']),
  squash_option: z.enum(['never', 'always', 'default_on', 'default_off']),
  remove_source_branch_after_merge: z.boolean(),
  approvals_before_merge: z.int(),
  mirror: z.boolean(),
  import_status: z.enum(IMPORT_STATUSES),
  import_url: z.string().nullable(),
  import_error: z.string().nullable().optional(),
  avatar_url: z.string().nullable(),
  runners_token: z.string().optional(),
  open_issues_count: z.int().optional(),
  shared_with_groups: z.array(
    entity({
      group_id: z.int(),
      group_name: z.string(),
      group_full_path: z.string(),
      group_access_level: z.int(),
      expires_at: z.string().nullable(),
    }),
  ),
  forked_from_project: SimpleProjectEntity.optional(),
  permissions: entity({ project_access: membership, group_access: membership }).optional(),
  statistics: entity({
    commit_count: z.int(),
    storage_size: z.int(),
    repository_size: z.int(),
    lfs_objects_size: z.int(),
    job_artifacts_size: z.int(),
  }).optional(),
  _links: entity({
    self: z.string(),
    issues: z.string().optional(),
    merge_requests: z.string().optional(),
    repo_branches: z.string(),
    labels: z.string(),
    events: z.string(),
    members: z.string(),
  }),
}).meta({ id: 'Project' })

export type ProjectRecord = z.infer<typeof ProjectEntity>
export type SimpleProjectRecord = z.infer<typeof SimpleProjectEntity>

/** Everything that a project record needs besides the row. */
export interface ProjectInNamespace {
  readonly project: Row<'projects'>
  readonly namespace: Row<'namespaces'>
  /** Set for a personal project. */
  readonly owner: User | null
  readonly topics: readonly string[]
}

type Membership = Pick<Row<'members'>, 'access_level'> & { readonly notification_level: number }

export interface Share extends Pick<Row<'project_shares'>, 'group_id' | 'group_access' | 'expires_at'> {
  name: string
  full_path: string
}

export interface LoadedProject extends ProjectInNamespace {
  readonly level: number
  readonly openIssues: number
  readonly shares: readonly Share[]
  /** Null if the source is deleted or hidden from the viewer. */
  readonly source: ProjectInNamespace | null
  readonly memberOfProject: Membership | null
  readonly memberOfGroup: Membership | null
}

/** Base URLs for the records. */
export interface Addresses {
  readonly url: string
  /** `git@host:` or `ssh://git@host:port/`. Null if no SSH URL is shown. */
  readonly ssh: string | null
}

export function presentSimpleProject(located: ProjectInNamespace, at: Addresses): SimpleProjectRecord {
  const { project, namespace, owner } = located
  const fullPath = `${namespace.full_path}/${project.path}`
  const webUrl = `${at.url}/${fullPath}`
  const { readme_path: readme, default_branch: branch } = project
  return {
    id: project.id,
    description: project.description,
    default_branch: project.empty_repo ? null : branch,
    tag_list: [...located.topics],
    topics: [...located.topics],
    ssh_url_to_repo: at.ssh === null ? '' : `${at.ssh}${fullPath}.git`,
    http_url_to_repo: `${webUrl}.git`,
    web_url: webUrl,
    readme_url: readme === null ? null : pageBelow(webUrl, `blob/${encodeSegments(`${branch}/${readme}`)}`),
    name: project.name,
    name_with_namespace: `${owner ? owner.name : namespace.full_name} / ${project.name}`,
    path: project.path,
    path_with_namespace: fullPath,
    star_count: project.star_count,
    forks_count: project.forks_count,
    created_at: project.created_at,
    last_activity_at: project.last_activity_at,
  }
}

export interface RecordOptions {
  /** Lists and single reads include the viewer's memberships; other answers do not. */
  permissions?: boolean
  statistics?: { readonly artifactsSize: number } | undefined
  /** For callers who administer the project. The row stores the token encrypted. */
  runnersToken?: string
}

const levelWord = (level: number) =>
  level === FeatureDisabled ? 'disabled' : level === FeatureEnabled ? 'enabled' : 'private'

export function presentProject(loaded: LoadedProject, at: Addresses, input: RecordOptions = {}): ProjectRecord {
  const { project, namespace, owner } = loaded
  const has = (feature: Feature) => hasFeature(loaded, feature)
  const self = `${at.url}/api/v4/projects/${project.id}`
  const issues = has('issues')
  const mergeRequests = has('merge_requests')
  return {
    ...presentSimpleProject(loaded, at),
    archived: project.archived,
    marked_for_deletion_at: project.marked_for_deletion_at?.slice(0, 10) ?? null,
    marked_for_deletion_on: project.marked_for_deletion_at?.slice(0, 10) ?? null,
    visibility: project.visibility,
    empty_repo: project.empty_repo,
    updated_at: project.updated_at,
    creator_id: project.creator_id,
    namespace: {
      id: namespace.id,
      name: namespace.name,
      path: namespace.path,
      kind: namespace.kind,
      full_path: namespace.full_path,
      parent_id: namespace.parent_id,
    },
    ...(owner && { owner: { id: owner.id, name: owner.name, created_at: owner.created_at } }),
    issues_enabled: issues,
    merge_requests_enabled: mergeRequests,
    wiki_enabled: has('wiki'),
    jobs_enabled: has('builds'),
    snippets_enabled: has('snippets'),
    container_registry_enabled: has('container_registry'),
    repository_access_level: levelWord(project.repository_access_level),
    issues_access_level: levelWord(project.issues_access_level),
    merge_requests_access_level: levelWord(project.merge_requests_access_level),
    builds_access_level: levelWord(project.builds_access_level),
    wiki_access_level: levelWord(project.wiki_access_level),
    snippets_access_level: levelWord(project.snippets_access_level),
    forking_access_level: levelWord(project.forking_access_level),
    container_registry_access_level: levelWord(project.container_registry_access_level),
    pages_access_level: project.pages_access_level === FeaturePublic ? 'public' : levelWord(project.pages_access_level),
    resolve_outdated_diff_discussions: project.resolve_outdated_diff_discussions,
    shared_runners_enabled: project.shared_runners_enabled,
    lfs_enabled: project.lfs_enabled,
    public_jobs: project.public_jobs,
    ci_config_path: project.ci_config_path,
    autoclose_referenced_issues: project.autoclose_referenced_issues,
    allow_merge_on_skipped_pipeline: project.allow_merge_on_skipped_pipeline,
    suggestion_commit_message: project.suggestion_commit_message,
    merge_commit_template: project.merge_commit_template,
    squash_commit_template: project.squash_commit_template,
    packages_enabled: project.packages_enabled,
    emails_disabled: project.emails_disabled,
    emails_enabled: !project.emails_disabled,
    build_timeout: project.build_timeout,
    build_git_strategy: project.build_git_strategy,
    ci_default_git_depth: project.ci_default_git_depth,
    auto_cancel_pending_pipelines: project.auto_cancel_pending_pipelines,
    merge_pipelines_enabled: project.merge_pipelines_enabled,
    keep_latest_artifact: project.keep_latest_artifact,
    auto_devops_enabled: project.auto_devops_enabled,
    auto_devops_deploy_strategy: project.auto_devops_deploy_strategy,
    container_expiration_policy: presentContainerExpiration(project.container_expiration_policy),
    repository_storage: project.repository_storage,
    only_allow_merge_if_pipeline_succeeds: project.only_allow_merge_if_pipeline_succeeds,
    only_allow_merge_if_all_discussions_are_resolved: project.only_allow_merge_if_all_discussions_are_resolved,
    printing_merge_requests_link_enabled: project.printing_merge_requests_link_enabled,
    printing_merge_request_link_enabled: project.printing_merge_requests_link_enabled,
    request_access_enabled: project.request_access_enabled,
    merge_method: project.merge_method,
    squash_option: project.squash_option,
    remove_source_branch_after_merge: project.remove_source_branch_after_merge,
    approvals_before_merge: project.approvals_before_merge,
    mirror: false,
    import_status: project.import_status,
    import_url: project.import_url,
    avatar_url: projectAvatarUrl(project, at, has('repository')),
    ...(input.runnersToken !== undefined && {
      runners_token: input.runnersToken,
      import_error: project.import_error,
    }),
    ...(issues && { open_issues_count: loaded.openIssues }),
    shared_with_groups: loaded.shares.map((share) => ({
      group_id: share.group_id,
      group_name: share.name,
      group_full_path: share.full_path,
      group_access_level: share.group_access,
      expires_at: share.expires_at,
    })),
    ...(loaded.source && { forked_from_project: presentSimpleProject(loaded.source, at) }),
    ...(input.permissions && {
      permissions: { project_access: loaded.memberOfProject, group_access: loaded.memberOfGroup },
    }),
    ...(input.statistics && { statistics: presentStatistics(project, input.statistics.artifactsSize) }),
    _links: {
      self,
      ...(issues && { issues: `${self}/issues` }),
      ...(mergeRequests && { merge_requests: `${self}/merge_requests` }),
      repo_branches: `${self}/repository/branches`,
      labels: `${self}/labels`,
      events: `${self}/events`,
      members: `${self}/members`,
    },
  }
}

function presentStatistics(
  { commit_count, repository_size, lfs_objects_size }: Row<'projects'>,
  job_artifacts_size: number,
): NonNullable<ProjectRecord['statistics']> {
  return {
    commit_count,
    storage_size: repository_size + lfs_objects_size + job_artifacts_size,
    repository_size,
    lfs_objects_size,
    job_artifacts_size,
  }
}

/** The uploaded avatar, or a logo in the repository if the viewer may read the repository. */
export function projectAvatarUrl(project: Row<'projects'>, { url }: Addresses, hasRepository = true): string | null {
  const file = project.avatar_filename ?? (hasRepository ? project.logo_path : null)
  return file && `${url}/uploads/-/system/project/avatar/${project.id}/${encodeURIComponent(file)}`
}
