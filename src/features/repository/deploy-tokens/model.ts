import type { Generated } from 'kysely'

export const DEPLOY_TOKEN_SCOPES = [
  'read_repository',
  'write_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
] as const
export type DeployTokenScope = (typeof DEPLOY_TOKEN_SCOPES)[number]

/** Jobs get the token with this name. */
export const NAME_FOR_JOBS = 'gitlab-deploy-token'

declare module '../../../store/database.ts' {
  interface Tables {
    deploy_tokens: {
      id: Generated<number>
      group_id: number | null
      project_id: number | null
      name: string
      username: string
      digest: string
      /** Only for the token that jobs get. */
      secret_sealed: Generated<string | null>
      /** Separated by spaces. */
      scopes: string
      expires_at: string | null
      revoked: boolean
      creator_id: number | null
      last_used_at: string | null
      created_at: string
    }
  }
}
