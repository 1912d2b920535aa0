declare module '../../../store/database.ts' {
  interface Tables {
    /** One row per changed limit. There is one plan, `default`. */
    plan_limits: { name: string; value: number }
  }
  interface Events {
    'plan_limits.updated': { names: string[] }
  }
}

const MB = 1024 * 1024
const GB = 1024 * MB

/** The defaults; 0 is no limit. The families of CI, packages, hooks and planning enforce them. */
export const INITIAL_LIMITS = {
  ci_instance_level_variables: 25,
  ci_pipeline_size: 0,
  ci_active_jobs: 0,
  ci_project_subscriptions: 2,
  ci_pipeline_schedules: 10,
  ci_needs_size_limit: 50,
  /** Megabytes. */
  ci_jobs_trace_size_limit: 100,
  ci_registered_group_runners: 1000,
  ci_registered_project_runners: 1000,
  dotenv_size: 5120,
  dotenv_variables: 20,
  conan_max_file_size: 3 * GB,
  enforcement_limit: 10_000,
  generic_packages_max_file_size: 5 * GB,
  helm_max_file_size: 5 * MB,
  notification_limit: 10_000,
  maven_max_file_size: 3 * GB,
  npm_max_file_size: 500 * MB,
  nuget_max_file_size: 500 * MB,
  pypi_max_file_size: 3 * GB,
  terraform_module_max_file_size: GB,
  storage_size_limit: 15_000,
  /** Per minute, over all hooks of a top-level namespace. */
  web_hook_calls: 0,
  project_issues: 500_000,
  /** Per issue, merge request, commit or snippet; system notes do not count. */
  noteable_notes: 5000,
}

export type LimitName = keyof typeof INITIAL_LIMITS
export type Limits = Record<LimitName, number>
export const LIMIT_NAMES = Object.keys(INITIAL_LIMITS) as LimitName[]
