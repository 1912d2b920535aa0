import { hash } from 'node:crypto'
import { z } from 'zod'
import { dateOut, entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { CustomAttributeEntity } from '../custom-attributes.ts'

/** Facts about the instance that presenters need. */
export interface Surroundings {
  readonly url: string
  readonly gravatar: boolean
}

export interface LoadedUser extends User {
  identities: Pick<Row<'identities'>, 'provider' | 'extern_uid'>[]
  /** The user has reached the limit of personal projects. */
  isFull: boolean
  namespace_id: number | null
}

/** A record with its author; null if the account was deleted. */
export type Authored<R> = R & { readonly author: User | null }

const summary = {
  id: z.int(),
  username: z.string(),
  name: z.string(),
  state: z.enum(['active', 'blocked', 'deactivated', 'banned', 'blocked_pending_approval']),
  avatar_url: z.string().nullable(),
  web_url: z.string(),
}

/** The public record, and the summary inside other records. */
export const UserSummaryEntity = entity(summary).meta({ id: 'UserSummary' })

const profile = {
  ...summary,
  created_at: timestampOut,
  bio: z.string().nullable(),
  location: z.string().nullable(),
  messenger: z.string(),
  professional_network: z.string(),
  microblog: z.string(),
  /** The same fields under the names that clients send. */
  skype: z.string(),
  linkedin: z.string(),
  twitter: z.string(),
  website_url: z.string(),
  organization: z.string().nullable(),
  job_title: z.string(),
  /** The two fields above as one text. */
  work_information: z.string().nullable(),
  pronouns: z.string().nullable(),
  public_email: z.string().nullable(),
  bot: z.boolean(),
}

/** One user, as every caller sees them. */
export const UserEntity = entity(profile).meta({ id: 'User' })

const account = {
  ...profile,
  email: z.string(),
  last_sign_in_at: timestampOut.nullable(),
  confirmed_at: timestampOut.nullable(),
  theme_id: z.int(),
  last_activity_on: dateOut.nullable(),
  color_scheme_id: z.int(),
  projects_limit: z.int(),
  current_sign_in_at: timestampOut.nullable(),
  identities: z.array(entity({ provider: z.string(), extern_uid: z.string() })),
  can_create_group: z.boolean(),
  can_create_project: z.boolean(),
  two_factor_enabled: z.boolean(),
  external: z.boolean(),
  namespace_id: z.int().nullable(),
}

/** The caller's own record. Administrators also see `is_admin` and their `private_token`. */
export const OwnUserEntity = entity({
  ...account,
  is_admin: z.boolean().optional(),
  private_token: z.string().optional(),
}).meta({ id: 'OwnUser' })

/** A user in an administrator's list. */
export const AccountEntity = entity({
  ...account,
  is_admin: z.boolean(),
  note: z.string().nullable(),
  /** Present with `with_custom_attributes`. */
  custom_attributes: z.array(CustomAttributeEntity).optional(),
}).meta({ id: 'Account' })

/** One user, as an administrator sees them. */
export const AdministeredUserEntity = entity({
  ...account,
  is_admin: z.boolean(),
  note: z.string().nullable(),
  shared_runners_minutes_limit: z.int().nullable(),
}).meta({ id: 'AdministeredUser' })

export type UserSummary = z.infer<typeof UserSummaryEntity>

type Pictured = Pick<User, 'id' | 'username' | 'name' | 'state' | 'email' | 'avatar_filename'>

/** The reason of a block is not shown. */
const visibleState = ({ state }: Pictured) => (state === 'ldap_blocked' ? 'blocked' : state)

export function presentUserSummary(user: Pictured, around: Surroundings): UserSummary {
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    state: visibleState(user),
    avatar_url: avatarUrl(user, around),
    web_url: `${around.url}/${user.username}`,
  }
}

export function presentUser(user: User, around: Surroundings): z.infer<typeof UserEntity> {
  return {
    id: user.id,
    username: user.username,
    name: user.name,
    state: visibleState(user),
    avatar_url: avatarUrl(user, around),
    web_url: `${around.url}/${user.username}`,
    created_at: user.created_at,
    bio: user.bio,
    location: user.location,
    messenger: user.messenger,
    professional_network: user.professional_network,
    microblog: user.microblog,
    skype: user.messenger,
    linkedin: user.professional_network,
    twitter: user.microblog,
    website_url: user.website_url,
    organization: user.organization,
    job_title: user.job_title,
    work_information: workOf(user),
    pronouns: user.pronouns,
    public_email: user.public_email,
    bot: user.bot,
  }
}

const workOf = ({ job_title, organization }: User): string | null =>
  [job_title, organization].filter(Boolean).join(' at ') || null

function presentOwn(user: LoadedUser, around: Surroundings) {
  return {
    ...presentUser(user, around),
    email: user.email,
    last_sign_in_at: user.last_sign_in_at,
    confirmed_at: user.confirmed_at,
    theme_id: user.theme_id,
    last_activity_on: user.last_activity_on,
    color_scheme_id: user.color_scheme_id,
    projects_limit: user.projects_limit,
    current_sign_in_at: user.current_sign_in_at,
    identities: user.identities.map(({ provider, extern_uid }) => ({ provider, extern_uid })),
    can_create_group: user.can_create_group,
    can_create_project: user.projects_limit > 0 && !user.isFull,
    two_factor_enabled: user.two_factor_enabled,
    external: user.external,
    namespace_id: user.namespace_id,
  }
}

export function presentOwnUser(
  user: LoadedUser,
  around: Surroundings,
  privateToken: string | null,
): z.infer<typeof OwnUserEntity> {
  const own = presentOwn(user, around)
  if (privateToken !== null) return { ...own, is_admin: user.admin, private_token: privateToken }
  return user.admin ? { ...own, is_admin: true } : own
}

export function presentAccount(user: LoadedUser, around: Surroundings): z.infer<typeof AccountEntity> {
  return { ...presentOwn(user, around), is_admin: user.admin, note: user.note }
}

export function presentAdministeredUser(
  user: LoadedUser,
  around: Surroundings,
): z.infer<typeof AdministeredUserEntity> {
  return {
    ...presentOwn(user, around),
    is_admin: user.admin,
    note: user.note,
    shared_runners_minutes_limit: user.shared_runners_minutes_limit,
  }
}

export function avatarUrl(
  { id, email, avatar_filename }: Pick<User, 'id' | 'email' | 'avatar_filename'>,
  { url, gravatar }: Surroundings,
  size?: number,
): string | null {
  if (avatar_filename) return `${url}/uploads/-/system/user/avatar/${id}/${encodeURIComponent(avatar_filename)}`
  return gravatar ? gravatarUrl(email, size) : null
}

export const gravatarUrl = (email: string, size = 80) =>
  `https://secure.gravatar.com/avatar/${hash('md5', email)}?s=${size}&d=identicon`
