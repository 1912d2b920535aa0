declare module '../../../store/database.ts' {
  interface Tables {
    /** One row per setting that was changed; the value is JSON. */
    settings: { name: string; value: string }
  }
}

export type Visibility = 'private' | 'internal' | 'public'

export interface Settings {
  gravatar_enabled: boolean
  default_projects_limit: number
  user_default_external: boolean
  session_expire_delay: number
  password_authentication_enabled: boolean
  restricted_visibility_levels: Visibility[]
  personal_access_token_prefix: string
  rsa_key_restriction: number
  dsa_key_restriction: number
  ecdsa_key_restriction: number
  ed25519_key_restriction: number
}

export const DEFAULTS: Settings = {
  gravatar_enabled: false,
  default_projects_limit: 100_000,
  user_default_external: false,
  session_expire_delay: 10_080,
  password_authentication_enabled: true,
  restricted_visibility_levels: [],
  personal_access_token_prefix: 'mpat-',
  rsa_key_restriction: 0,
  dsa_key_restriction: 0,
  ecdsa_key_restriction: 0,
  ed25519_key_restriction: 0,
}
