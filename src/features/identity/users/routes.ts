import { z } from 'zod'
import type { App, User } from '../../../context.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, file, int, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { forbidden, invalid, unauthenticated } from '../../../errors.ts'
import { attributeFilters, withAttributes } from '../custom-attributes.ts'
import { isPassword } from '../passwords.ts'
import { assertGuess, forgetGuesses } from '../throttling/backoff.ts'
import { ownGuess } from '../second-factor/service.ts'
import { sealedPrivateToken } from '../tokens/queries.ts'
import {
  AccountEntity,
  AdministeredUserEntity,
  OwnUserEntity,
  UserEntity,
  UserSummaryEntity,
  presentAdministeredUser,
} from './entity.ts'
import { presentAccounts, presentAdministered, presentOwn, presentProfile, presentSummaries } from './load.ts'
import { USER_ORDERS, listUsers } from './lists.ts'
import { identity, loadUser, surroundings, user } from './queries.ts'
import { LARGEST_AVATAR } from './avatar.ts'
import { createUser, removeIdentity, updateUser } from './service.ts'
import { blockUser, deleteUser, unblockUser } from './state.ts'

const readUser = ['read_user'] as const

const ADMINISTRATORS_FILTERS = [
  'external',
  'pending_approval',
  'two_factor',
  'admins',
  'without_projects',
  'skip_ldap',
] as const

export const list = endpoint({
  method: 'GET',
  path: '/users',
  summary: 'List users',
  by: 'visitor',
  allow: 'anyone', // visitors only by username, which the handler checks
  alsoAsks: [`administer the instance, for the filters ${ADMINISTRATORS_FILTERS.join(', ')}, extern_uid`],
  scopes: readUser,
  input: z.object({
    search: text.nullish(),
    username: text.nullish(),
    extern_uid: text.nullish(),
    provider: text.nullish(),
    active: bool.nullish(),
    blocked: bool.nullish(),
    /** Our own parameter: users who registered and are pending approval. */
    pending_approval: bool.nullish(),
    external: bool.nullish(),
    created_before: blankable(moment),
    created_after: blankable(moment),
    public_email: text.nullish(),
    humans: bool.nullish(),
    without_project_bots: bool.nullish(),
    exclude_active: bool.nullish(),
    exclude_external: bool.nullish(),
    exclude_humans: bool.nullish(),
    exclude_internal: bool.nullish(),
    order_by: oneOf(...USER_ORDERS).nullish(),
    sort: oneOf('asc', 'desc').nullish(),
    two_factor: oneOf('enabled', 'disabled').nullish(),
    admins: bool.nullish(),
    without_projects: bool.nullish(),
    skip_ldap: bool.nullish(),
    ...attributeFilters,
  }),
  refuses: ['auditors', 'saml_provider_id'],
  output: pageOf(z.union([AccountEntity, UserSummaryEntity])),
  async handle({ app, viewer, input, page }) {
    const forAdministrators = ADMINISTRATORS_FILTERS.some((name) => input[name]) || (input.extern_uid && input.provider)
    if (forAdministrators && !viewer) throw unauthenticated()
    if (forAdministrators && !viewer?.admin) throw forbidden()
    if (!viewer && !input.username) throw forbidden('Not authorized to access /api/v4/users')

    const { items, total } = await listUsers(app.db, viewer, input, page)
    if (!viewer?.admin) return { total, items: await presentSummaries(app, items) }
    const accounts = await presentAccounts(app, items)
    return { total, items: await withAttributes(app.db, viewer, 'user_id', items, input, accounts) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: '/users/:id(\\d+)',
  summary: 'Get a user',
  on: user,
  by: 'visitor',
  allow: 'anyone',
  scopes: readUser,
  output: z.union([AdministeredUserEntity, UserEntity]),
  async handle({ app, viewer, subject }) {
    return viewer?.admin ? presentAdministered(app, subject.user) : presentProfile(app, subject.user)
  },
})

export const current = endpoint({
  method: 'GET',
  path: '/user',
  summary: 'Get the signed-in user',
  allow: 'signed_in',
  duringRequiredStep: true,
  scopes: readUser,
  output: OwnUserEntity,
  async handle({ app, viewer, caller }) {
    // A token with limited scopes must not give access to the private token, which has all rights.
    const withToken = viewer.admin && caller.identity?.scopes === null && !caller.identity.requiredStep
    return presentOwn(app, viewer, withToken ? await sealedPrivateToken(app.db, viewer) : null)
  },
})

/** Texts of the profile. Administrators and the users themselves change them. */
const profile = {
  messenger: text.nullish(),
  professional_network: text.nullish(),
  microblog: text.nullish(),
  skype: text.nullish(),
  linkedin: text.nullish(),
  twitter: text.nullish(),
  website_url: text.nullish(),
  organization: text.nullish(),
  job_title: text.nullish(),
  pronouns: text.nullish(),
  public_email: text.nullish(),
}

/** Create and update take the same attributes; the second names are those that other clients send. */
const attributes = {
  password: text.nullish(),
  ...profile,
  note: longText.nullish(),
  projects_limit: blankable(int),
  extern_uid: text.nullish(),
  provider: text.nullish(),
  bio: longText.nullish(),
  location: text.nullish(),
  admin: bool.nullish(),
  can_create_group: bool.nullish(),
  external: bool.nullish(),
  avatar: file.optional(),
  shared_runners_minutes_limit: blankable(int),
}

interface OtherNames {
  messenger?: string | null
  professional_network?: string | null
  microblog?: string | null
  skype?: string | null
  linkedin?: string | null
  twitter?: string | null
}

const ownNames = <T extends OtherNames>({ skype, linkedin, twitter, ...input }: T) => ({
  ...input,
  messenger: input.messenger ?? skype,
  professional_network: input.professional_network ?? linkedin,
  microblog: input.microblog ?? twitter,
})

interface IdentityPair {
  provider?: string | null
  extern_uid?: string | null
}

const wholeIdentity = ({ provider, extern_uid }: IdentityPair) => Boolean(provider) === Boolean(extern_uid)
const HALF_IDENTITY = 'extern_uid, provider provide all or none of parameters'

export const create = endpoint({
  method: 'POST',
  path: '/users',
  summary: 'Create a user',
  allow: 'administrator',
  upload: LARGEST_AVATAR * 2, // larger files are rejected by size with a clear error, not cut off
  input: z
    .object({
      email: text,
      username: text,
      name: text,
      reset_password: bool.nullish(),
      skip_confirmation: bool.nullish(),
      ...attributes,
    })
    .refine((input) => input.password || input.reset_password, {
      message: 'password, reset_password are missing, at least one parameter must be provided',
    })
    .refine(wholeIdentity, { message: HALF_IDENTITY }),
  output: AdministeredUserEntity,
  async handle({ app, input }) {
    const created = await createUser(app, ownNames(input))
    return presentAdministeredUser(await loadUser(app.db, created), await surroundings(app))
  },
})

export const update = endpoint({
  method: 'PUT',
  path: '/users/:id(\\d+)',
  summary: 'Update a user; another password ends sessions, and with revoke_tokens also all tokens',
  on: user,
  allow: 'administrator',
  upload: LARGEST_AVATAR * 2,
  input: z
    .object({
      email: text.optional(),
      username: text.optional(),
      name: text.optional(),
      skip_reconfirmation: bool.nullish(),
      revoke_tokens: bool.nullish(),
      ...attributes,
    })
    .refine(wholeIdentity, { message: HALF_IDENTITY })
    .refine(({ password, revoke_tokens }) => password || !revoke_tokens, {
      message: 'revoke_tokens is given only together with password',
    }),
  output: AdministeredUserEntity,
  async handle({ app, viewer, subject, input }) {
    const updated = await updateUser(app, viewer, subject.user, ownNames(input))
    return presentAdministeredUser(await loadUser(app.db, updated), await surroundings(app))
  },
})

/** A person with a stolen token or an open browser must not be able to guess the password without limit. */
async function assertOwnPassword(app: App, viewer: User, shown: string): Promise<void> {
  if (viewer.password_digest === null) return
  await assertGuess(app, ownGuess(viewer))
  if (!(await isPassword(shown, viewer.password_digest))) throw invalid({ current_password: ['is wrong'] })
  await forgetGuesses(app, ownGuess(viewer))
}

/** Changes that users may make to their own account. Setting a password requires the old one, if there is one. */
export const updateOwn = endpoint({
  method: 'PUT',
  path: '/user',
  summary: 'Update the signed-in user',
  allow: 'signed_in',
  upload: LARGEST_AVATAR * 2,
  input: z.object({
    name: text.optional(),
    current_password: text.nullish(),
    password: text.nullish(),
    ...profile,
    bio: longText.nullish(),
    location: text.nullish(),
    avatar: file.optional(),
  }),
  output: OwnUserEntity,
  async handle({ app, viewer, input: { current_password, ...request } }) {
    if (request.password) await assertOwnPassword(app, viewer, current_password ?? '')
    return presentOwn(app, await updateUser(app, viewer, viewer, ownNames(request)), null)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/users/:id(\\d+)',
  summary: 'Delete a user',
  on: user,
  allow: 'administrator',
  changedAt: ({ user }) => user.updated_at,
  input: z.object({ hard_delete: bool.nullish() }),
  output: null,
  async handle({ app, viewer, subject, input }) {
    await deleteUser(app, viewer, subject.user, { hard: input.hard_delete ?? false })
  },
})

export const destroyIdentity = endpoint({
  method: 'DELETE',
  path: '/users/:id(\\d+)/identities/:provider',
  summary: 'Remove the identity a user has at a provider',
  on: identity,
  allow: 'administrator',
  output: null,
  handle: ({ app, subject }) => removeIdentity(app, subject.user, subject.identity),
})

export const block = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/block',
  summary: 'Block a user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, viewer, subject }) => blockUser(app, viewer, subject.user),
})

export const unblock = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/unblock',
  summary: 'Unblock a user',
  on: user,
  allow: 'administrator',
  output: z.boolean(),
  handle: ({ app, subject }) => unblockUser(app, subject.user),
})
