import { policy } from '../../../api/endpoint.ts'
import type { AccessToken } from '../tokens/model.ts'

export interface ImpersonationTokenSubject {
  readonly token: AccessToken
}

/** The endpoints are for administrators, which is settled before a token is looked up. */
export const impersonationTokenPolicy = policy<ImpersonationTokenSubject>()({ read: () => true })
