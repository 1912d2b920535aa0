import { rule } from '../../../api/rules.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import {
  SHORT,
  address,
  addresses,
  atMost,
  below,
  choice,
  choices,
  decimal,
  domains,
  email,
  flag,
  group,
  integer,
  level,
  list,
  matching,
  notNegative,
  optionalChoice,
  optionalInteger,
  optionalText,
  positive,
  secret,
  structure,
  usernames,
  within,
  words,
  type Attribute,
} from './attribute.ts'
import { areRights } from './branch-protection.ts'

const VISIBILITY = ['private', 'internal', 'public'] as const

const IMPORT_SOURCES = [
  'github',
  'bitbucket',
  'gitlab',
  'google_code',
  'fogbugz',
  'git',
  'gitlab_project',
  'gitea',
] as const

const HOUSEKEEPING = [
  'housekeeping_bitmaps_enabled',
  'housekeeping_incremental_repack_period',
  'housekeeping_full_repack_period',
  'housekeeping_gc_period',
]

const METRICS = [
  'metrics_host',
  'metrics_port',
  'metrics_pool_size',
  'metrics_timeout',
  'metrics_method_call_threshold',
  'metrics_sample_interval',
  'metrics_packet_size',
]

const STORAGES = ['default']

const unknownStorages = (names: string[]) => names.filter((name) => !STORAGES.includes(name))

const knownStorages = rule<string[]>(
  (names) => unknownStorages(names).length === 0,
  (names) => `can't include: ${unknownStorages(names).join(', ')}`,
)

const branchName = rule<string>(isBranchName, 'is invalid')

const notEmpty = rule<string[]>((names) => names.length > 0, BLANK)

/** Sign-in through other services does not exist yet, so none can be disabled. */
const signInSources = rule<string[]>(
  (names) => names.length === 0,
  (names) => `'${names[0]}' is not an OAuth sign-in source`,
)

/**
 * Every setting of the instance. The type, the defaults, the input, the record and the validation derive from this
 * table.
 */
export const ATTRIBUTES = {
  // Sign-in and accounts
  signup_enabled: flag(true),
  password_authentication_enabled: flag(true),
  password_authentication_enabled_for_git: flag(true),
  send_user_confirmation_email: flag(false),
  email_confirmation_setting: choice('off', 'off', 'soft', 'hard'),
  // As in newer releases: sign-up is open by default, and new users need approval.
  require_admin_approval_after_user_signup: flag(true),
  require_two_factor_authentication: flag(false, { needs: ['two_factor_grace_period'] }),
  two_factor_grace_period: integer(48),
  session_expire_delay: integer(10_080),
  user_default_external: flag(false),
  user_oauth_applications: flag(true),
  disabled_oauth_sign_in_sources: list([], signInSources),
  default_projects_limit: integer(100_000),
  can_create_group: flag(true),
  domain_whitelist: domains(),
  domain_blacklist_enabled: flag(false, { needs: ['domain_blacklist'] }),
  domain_blacklist: domains(),
  unique_ips_limit_enabled: flag(false),
  unique_ips_limit_per_user: integer(10, positive),
  unique_ips_limit_time_window: integer(3600),
  admin_mode: flag(false),
  enforce_terms: flag(false, { needs: ['terms'] }),
  terms: optionalText(),
  disable_feed_token: flag(false),
  personal_access_token_prefix: words(
    'mpat-',
    atMost(20),
    matching(/^[\w+=/@:.-]*$/, 'can contain only letters of the Base64 alphabet (RFC4648) and @, :, .'),
  ),
  require_personal_access_token_expiry: flag(false),
  max_personal_access_token_lifetime: optionalInteger(positive),
  recaptcha_enabled: flag(false, { needs: ['recaptcha_site_key', 'recaptcha_private_key'] }),
  recaptcha_site_key: optionalText(atMost(SHORT)),
  recaptcha_private_key: secret(),
  akismet_enabled: flag(false, { needs: ['akismet_api_key'] }),
  akismet_api_key: secret(),
  rsa_key_restriction: level(0, -1, 0, 1024, 2048, 3072, 4096),
  dsa_key_restriction: level(0, -1, 0, 1024, 2048, 3072),
  ecdsa_key_restriction: level(0, -1, 0, 256, 384, 521),
  ed25519_key_restriction: level(0, -1, 0, 256),

  // Pages and mail
  // These three would call an external service; by default Mortise calls none.
  gravatar_enabled: flag(false),
  usage_ping_enabled: flag(false),
  version_check_enabled: flag(false),
  admin_notification_email: optionalText(atMost(SHORT), email),
  after_sign_out_path: optionalText(atMost(SHORT), address),
  home_page_url: optionalText(atMost(SHORT), address),
  help_page_support_url: optionalText(atMost(SHORT), address),
  help_page_hide_commercial_content: flag(false),
  after_sign_up_text: optionalText(),
  sign_in_text: optionalText(),
  help_page_text: optionalText(),
  html_emails_enabled: flag(true),
  email_author_in_body: flag(false),
  first_day_of_week: level(0, 0, 1, 6),
  polling_interval_multiplier: decimal(1, notNegative),
  koding_enabled: flag(false, { needs: ['koding_url'] }),
  koding_url: optionalText(atMost(SHORT)),
  plantuml_enabled: flag(false, { needs: ['plantuml_url'] }),
  plantuml_url: optionalText(atMost(SHORT)),
  kroki_enabled: flag(false, { needs: ['kroki_url'] }),
  kroki_url: optionalText(atMost(SHORT), address),
  kroki_formats: structure({}),
  gitpod_enabled: flag(false, { needs: ['gitpod_url'] }),
  gitpod_url: optionalText(atMost(SHORT), address),
  sourcegraph_enabled: flag(false, { needs: ['sourcegraph_url'] }),
  sourcegraph_url: optionalText(atMost(SHORT), address),
  sourcegraph_public_only: flag(true),
  asset_proxy_enabled: flag(false, { needs: ['asset_proxy_url', 'asset_proxy_secret_key'] }),
  asset_proxy_url: optionalText(atMost(SHORT), address),
  asset_proxy_secret_key: secret(),
  asset_proxy_allowlist: domains(),

  // Projects and repositories
  default_project_visibility: choice('private', ...VISIBILITY),
  default_group_visibility: choice('private', ...VISIBILITY),
  default_snippet_visibility: choice('private', ...VISIBILITY),
  restricted_visibility_levels: choices([], ...VISIBILITY),
  // For new groups: nobody, maintainers, developers too, administrators, owners.
  default_project_creation: level(1, 0, 1, 2, 3, 4),
  default_branch_name: optionalText(atMost(SHORT), branchName),
  default_branch_protection: level(2, 0, 1, 2, 3),
  default_branch_protection_defaults: structure({}, rule(areRights, 'is invalid')),
  enabled_git_access_protocol: optionalChoice('ssh', 'http'),
  import_sources: choices([...IMPORT_SOURCES], ...IMPORT_SOURCES),
  // Days that deleted projects and groups can be restored; 0 deletes them at once.
  deletion_adjourned_period: integer(7, within(0, 90)),
  project_export_enabled: flag(true),
  mirror_available: flag(true),
  max_attachment_size: integer(10, positive),
  max_import_size: integer(0),
  max_export_size: integer(0),
  receive_max_input_size: optionalInteger(),
  hashed_storage_enabled: flag(false),
  repository_storages: list(STORAGES, notEmpty, knownStorages),
  repository_storages_weighted: structure({ default: 100 }),
  repository_checks_enabled: flag(true),
  housekeeping_enabled: flag(true, { needs: HOUSEKEEPING }),
  housekeeping_bitmaps_enabled: flag(true),
  housekeeping_incremental_repack_period: integer(10, positive),
  housekeeping_full_repack_period: integer(50, positive),
  housekeeping_gc_period: integer(200, positive),
  push_event_hooks_limit: integer(3),
  push_event_activities_limit: integer(3),

  // Continuous integration
  auto_devops_enabled: flag(false),
  default_ci_config_path: optionalText(atMost(SHORT)),
  default_artifacts_expire_in: words('30 days', atMost(SHORT)),
  keep_latest_artifact: flag(true),
  max_artifacts_size: integer(100, positive),
  max_pages_size: integer(100, positive),
  container_registry_token_expire_delay: integer(5, positive),
  protected_ci_variables: flag(true),
  shared_runners_enabled: flag(true, { needs: ['shared_runners_text'] }),
  shared_runners_text: words(''),
  valid_runner_registrars: choices(['project', 'group'], 'project', 'group'),
  allow_runner_registration_token: flag(true),
  terminal_max_session_time: integer(0),

  // Requests, in and out
  allow_local_requests_from_web_hooks_and_services: flag(false),
  allow_local_requests_from_system_hooks: flag(true),
  outbound_local_requests_whitelist: addresses(),
  dns_rebinding_protection_enabled: flag(true),
  deny_all_requests_except_allowed: flag(false),
  throttle_unauthenticated_enabled: flag(false),
  throttle_unauthenticated_period_in_seconds: integer(3600, positive),
  throttle_unauthenticated_requests_per_period: integer(3600, positive),
  // Blame, comparisons, archives, histories of a path: the limit is more than a person reads in a minute.
  throttle_unauthenticated_costly_enabled: flag(true),
  throttle_unauthenticated_costly_period_in_seconds: integer(60, positive),
  throttle_unauthenticated_costly_requests_per_period: integer(60, positive),
  throttle_authenticated_api_enabled: flag(false),
  throttle_authenticated_api_period_in_seconds: integer(3600, positive),
  throttle_authenticated_api_requests_per_period: integer(7200, positive),
  throttle_authenticated_web_enabled: flag(false),
  throttle_authenticated_web_period_in_seconds: integer(3600, positive),
  throttle_authenticated_web_requests_per_period: integer(7200, positive),
  // Per user; 0 is no limit. The periods are in src/api/limits.ts.
  issues_create_limit: integer(300),
  notes_create_limit: integer(300),
  notes_create_limit_allowlist: usernames(),
  project_create_limit: integer(0),
  members_delete_limit: integer(60),
  projects_api_limit: integer(0),
  project_api_limit: integer(0),
  user_projects_api_limit: integer(0),
  user_starred_projects_api_limit: integer(0),
  groups_api_limit: integer(0),
  group_api_limit: integer(0),
  group_projects_api_limit: integer(0),

  // The instance itself
  // Clients hide features that the reported release lacks: `Draft:` titles need 13.2, reviewers 13.9, detailed merge
  // status 15.6. Release 16.0.0 has all of these and promises none of the fields of later releases.
  reported_version: words('16.0.0', matching(/^\d{1,4}\.\d{1,4}\.\d{1,4}$/)),
  silent_mode_enabled: flag(false),
  hooks_auto_disabled: flag(false),
  performance_bar_allowed_group_id: group(),
  prometheus_metrics_enabled: flag(false),
  metrics_enabled: flag(false, { needs: METRICS }),
  metrics_host: words('localhost', atMost(SHORT)),
  metrics_port: integer(8089, positive),
  metrics_pool_size: integer(16, positive),
  metrics_timeout: integer(10, positive),
  metrics_method_call_threshold: integer(10),
  metrics_sample_interval: integer(15, positive),
  metrics_packet_size: integer(1, positive),
  sentry_enabled: flag(false, { needs: ['sentry_dsn'] }),
  sentry_dsn: secret(),
  clientside_sentry_enabled: flag(false, { needs: ['clientside_sentry_dsn'] }),
  clientside_sentry_dsn: optionalText(atMost(SHORT)),
  sidekiq_throttling_enabled: flag(false, { needs: ['sidekiq_throttling_queues', 'sidekiq_throttling_factor'] }),
  sidekiq_throttling_queues: list([]),
  sidekiq_throttling_factor: decimal(0.1, positive, below(1)),
} satisfies Record<string, Attribute<unknown>>

/** Other names of one setting, from older and newer clients. Each is read and written like the setting itself. */
export const ALIASES = {
  allow_local_requests_from_hooks_and_services: 'allow_local_requests_from_web_hooks_and_services',
  signin_enabled: 'password_authentication_enabled',
  password_authentication_enabled_for_web: 'password_authentication_enabled',
  domain_allowlist: 'domain_whitelist',
  domain_whitelist_raw: 'domain_whitelist',
  domain_allowlist_raw: 'domain_whitelist',
  domain_denylist_enabled: 'domain_blacklist_enabled',
  domain_denylist: 'domain_blacklist',
  domain_blacklist_raw: 'domain_blacklist',
  domain_denylist_raw: 'domain_blacklist',
} as const satisfies Record<string, keyof typeof ATTRIBUTES>

/** A list under a `_raw` name is read as text, one item per line. */
export const isRaw = (alias: string): boolean => alias.endsWith('_raw')
