/** Settings of the instance by topic; all others are in the last section. */
import * as t from '../../../../texts/admin.ts'

export const CHAPTERS: readonly (readonly [name: string, title: string, settings: readonly string[]])[] = [
  [
    'visibility',
    t.visibilityAndDefaults,
    [
      'default_project_visibility',
      'default_group_visibility',
      'default_snippet_visibility',
      'restricted_visibility_levels',
      'default_projects_limit',
      'can_create_group',
      'default_project_creation',
      'default_branch_name',
      'default_branch_protection',
    ],
  ],
  [
    'sign_in',
    t.signInAndSignUp,
    [
      'signup_enabled',
      'require_admin_approval_after_user_signup',
      'email_confirmation_setting',
      'password_authentication_enabled_for_web',
      'password_authentication_enabled_for_git',
      'require_two_factor_authentication',
      'two_factor_grace_period',
      'session_expire_delay',
      'user_default_external',
      'user_oauth_applications',
      'domain_allowlist',
      'domain_denylist_enabled',
      'domain_denylist',
      'unique_ips_limit_enabled',
      'unique_ips_limit_per_user',
      'unique_ips_limit_time_window',
    ],
  ],
  [
    'keys',
    t.tokensAndKeys,
    [
      'personal_access_token_prefix',
      'require_personal_access_token_expiry',
      'max_personal_access_token_lifetime',
      'disable_feed_token',
      'rsa_key_restriction',
      'dsa_key_restriction',
      'ecdsa_key_restriction',
      'ed25519_key_restriction',
    ],
  ],
  [
    'repositories',
    t.repositories,
    [
      'enabled_git_access_protocol',
      'import_sources',
      'project_export_enabled',
      'mirror_available',
      'max_attachment_size',
      'max_import_size',
      'receive_max_input_size',
      'repository_checks_enabled',
      'housekeeping_enabled',
      'push_event_hooks_limit',
      'push_event_activities_limit',
    ],
  ],
  [
    'ci',
    'CI/CD',
    [
      'shared_runners_enabled',
      'shared_runners_text',
      'valid_runner_registrars',
      'allow_runner_registration_token',
      'auto_devops_enabled',
      'default_ci_config_path',
      'default_artifacts_expire_in',
      'keep_latest_artifact',
      'max_artifacts_size',
      'protected_ci_variables',
    ],
  ],
  [
    'network',
    t.outboundRequests,
    [
      'allow_local_requests_from_web_hooks_and_services',
      'allow_local_requests_from_system_hooks',
      'outbound_local_requests_whitelist',
      'dns_rebinding_protection_enabled',
      'deny_all_requests_except_allowed',
      'silent_mode_enabled',
    ],
  ],
  [
    'limits',
    t.rateLimits,
    [
      'throttle_unauthenticated_enabled',
      'throttle_unauthenticated_period_in_seconds',
      'throttle_unauthenticated_requests_per_period',
      'throttle_unauthenticated_costly_enabled',
      'throttle_unauthenticated_costly_period_in_seconds',
      'throttle_unauthenticated_costly_requests_per_period',
      'throttle_authenticated_api_enabled',
      'throttle_authenticated_api_period_in_seconds',
      'throttle_authenticated_api_requests_per_period',
      'throttle_authenticated_web_enabled',
      'throttle_authenticated_web_period_in_seconds',
      'throttle_authenticated_web_requests_per_period',
      'issues_create_limit',
      'notes_create_limit',
      'notes_create_limit_allowlist',
      'project_create_limit',
      'members_delete_limit',
      'projects_api_limit',
      'project_api_limit',
      'user_projects_api_limit',
      'user_starred_projects_api_limit',
      'groups_api_limit',
      'group_api_limit',
      'group_projects_api_limit',
    ],
  ],
  [
    'texts',
    t.messagesAndEmail,
    [
      'sign_in_text',
      'after_sign_up_text',
      'help_page_text',
      'help_page_support_url',
      'home_page_url',
      'after_sign_out_path',
      'admin_notification_email',
      'enforce_terms',
      'terms',
      'html_emails_enabled',
      'email_author_in_body',
      'first_day_of_week',
    ],
  ],
]

/** The setting that must be sent along when a switch is turned on, changed or not. */
export const COMPANIONS: Readonly<Record<string, string>> = {
  require_two_factor_authentication: 'two_factor_grace_period',
  domain_denylist_enabled: 'domain_denylist',
  enforce_terms: 'terms',
  shared_runners_enabled: 'shared_runners_text',
}

/** Aliases of the settings above, and values that cannot be set. */
const LEFT_OUT = new Set([
  'id',
  'created_at',
  'updated_at',
  'reported_version',
  'hooks_auto_disabled',
  'signin_enabled',
  'password_authentication_enabled',
  'send_user_confirmation_email',
  'allow_local_requests_from_hooks_and_services',
  'domain_whitelist',
  'domain_blacklist',
  'domain_blacklist_enabled',
  'domain_whitelist_raw',
  'domain_allowlist_raw',
  'domain_blacklist_raw',
  'domain_denylist_raw',
])

const NAMED = new Set(CHAPTERS.flatMap(([, , names]) => names))

/** The existing settings of a section. */
export function settingsOf(chapter: string, all: Readonly<Record<string, unknown>>): string[] {
  const isShown = (name: string) => name in all && !isObject(all[name])
  const found = CHAPTERS.find(([name]) => name === chapter)
  if (found) return found[2].filter(isShown)
  return Object.keys(all).filter((name) => isShown(name) && !NAMED.has(name) && !LEFT_OUT.has(name))
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

export const chapterOf = (query: URLSearchParams): string => query.get('chapter') ?? CHAPTERS[0]![0]
