/**
 * The filter and sort parameters that later releases document, by endpoint. Each name is listed, whether it is served
 * or rejected: `documented-filters.test.ts` checks that each endpoint does one of the two.
 */
const PROJECTS = `archived visibility order_by sort search simple owned membership starred statistics custom_attributes
  with_custom_attributes with_issues_enabled with_merge_requests_enabled min_access_level topic id_after id_before
  last_activity_after last_activity_before updated_after updated_before active imported include_hidden
  include_pending_delete marked_for_deletion_on repository_checksum_failed repository_storage search_namespaces topic_id
  wiki_checksum_failed with_programming_language`

const PLANNED = `assignee_id assignee_username author_id author_username created_after created_before iids in labels
  milestone milestone_id my_reaction_emoji non_archived not scope search state updated_after updated_before`

const ISSUES = `${PLANNED} confidential due_date epic_id health_status issue_type iteration_id iteration_title weight`
const SORTED_ISSUES = `${ISSUES} order_by sort with_labels_details`

const MERGE_REQUESTS = `${PLANNED} approved approved_by_ids approved_by_usernames approver_ids deployed_after
  deployed_before environment merge_user_id merge_user_username order_by reviewer_id reviewer_username sort source_branch
  source_project_id target_branch view wip with_labels_details with_merge_status_recheck`

const MEMBERS = 'query user_ids skip_users show_seat_info state'
const SEARCH = 'scope search state confidential order_by sort search_type regex fields'
const TOKENS = `state revoked search sort created_after created_before expires_after expires_before last_used_after
  last_used_before`
const RUNNERS = 'type status paused tag_list version_prefix scope'
const GROUPS = `skip_groups all_available search order_by sort statistics visibility with_custom_attributes owned
  min_access_level top_level_only`
const TIMES = 'updated_after updated_before created_after created_before'

export const DOCUMENTED: Readonly<Record<string, string>> = {
  'GET /projects': `${PROJECTS} pagination`,
  'GET /users/:user_id/projects': PROJECTS,
  'GET /users/:user_id/starred_projects': PROJECTS,
  'GET /projects/:id/forks': PROJECTS,
  'GET /groups/:id/projects': `${PROJECTS} include_subgroups with_shared`,
  'GET /groups/:id/projects/shared': PROJECTS,
  'GET /groups': GROUPS,
  'GET /groups/:id/subgroups': GROUPS,
  'GET /groups/:id/descendant_groups': GROUPS,
  'GET /users': `username public_email search active external blocked humans created_after created_before exclude_active
    exclude_external exclude_humans exclude_internal without_project_bots saml_provider_id extern_uid provider order_by
    sort two_factor without_projects admins auditors skip_ldap custom_attributes with_custom_attributes`,
  'GET /issues': SORTED_ISSUES,
  'GET /groups/:id/issues': SORTED_ISSUES,
  'GET /projects/:id/issues': `${SORTED_ISSUES} cursor`,
  'GET /issues_statistics': ISSUES,
  'GET /groups/:id/issues_statistics': ISSUES,
  'GET /projects/:id/issues_statistics': ISSUES,
  'GET /merge_requests': MERGE_REQUESTS,
  'GET /groups/:id/merge_requests': MERGE_REQUESTS,
  'GET /projects/:id/merge_requests': MERGE_REQUESTS,
  'GET /projects/:id/members': MEMBERS,
  'GET /projects/:id/members/all': MEMBERS,
  'GET /groups/:id/members': MEMBERS,
  'GET /groups/:id/members/all': MEMBERS,
  'GET /search': `${SEARCH} exclude_forks include_archived`,
  'GET /groups/:id/search': `${SEARCH} exclude_forks include_archived`,
  'GET /projects/:id/search': `${SEARCH} ref`,
  'GET /projects/:id/access_tokens': TOKENS,
  'GET /groups/:id/access_tokens': TOKENS,
  'GET /personal_access_tokens': `${TOKENS} user_id`,
  'GET /projects/:id/labels': 'with_counts include_ancestor_groups search archived',
  'GET /groups/:id/labels': `with_counts include_ancestor_groups include_descendant_groups only_group_labels search
    archived`,
  'GET /projects/:id/milestones': 'iids state title search include_ancestors updated_after updated_before',
  'GET /groups/:id/milestones': 'iids state title search include_ancestors updated_after updated_before',
  'GET /projects/:id/jobs': 'scope order_by sort',
  'GET /projects/:id/pipelines/:pipeline_id/jobs': 'scope include_retried',
  'GET /projects/:id/jobs/artifacts/:ref_name/download': 'job search_recent_successful_pipelines',
  'GET /projects/:id/jobs/artifacts/:ref_name/raw/*': 'job search_recent_successful_pipelines',
  'GET /projects/:id/pipelines': `${TIMES} name order_by ref scope sha sort source status username yaml_errors`,
  'GET /projects/:id/pipeline_schedules': 'scope',
  'GET /projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines': `${TIMES} scope status sort`,
  'GET /projects/:id/deployments': `order_by sort environment status updated_after updated_before finished_after
    finished_before`,
  'GET /projects/:id/environments': 'name search states',
  'GET /projects/:id/releases': 'order_by sort updated_after updated_before include_html_description',
  'GET /projects/:id/repository/branches': 'search regex sort page_token',
  'GET /projects/:id/repository/tags': 'order_by sort search page_token',
  'GET /projects/:id/repository/commits': `ref_name since until path author all with_stats first_parent order trailers`,
  'GET /projects/:id/repository/commits/:sha/statuses': 'ref stage name all pipeline_id order_by sort',
  'GET /projects/:id/repository/commits/:sha/merge_requests': 'state',
  'GET /projects/:id/repository/commits/:sha/refs': 'type',
  'GET /projects/:id/repository/changelog': 'version config_file config_file_ref date from to trailer',
  'GET /projects/:id/repository/tree': 'path ref recursive pagination page_token',
  'GET /runners': RUNNERS,
  'GET /runners/all': RUNNERS,
  'GET /projects/:id/runners': RUNNERS,
  'GET /groups/:id/runners': RUNNERS,
  'GET /runners/:runner_id/jobs': 'system_id status order_by sort',
  'GET /todos': 'action author_id project_id group_id state type',
  'GET /topics': 'search without_projects',
  'GET /namespaces': 'search owned_only top_level_only',
  'GET /events': 'action target_type before after scope sort',
  'GET /audit_events': 'created_after created_before entity_type entity_id',
}
