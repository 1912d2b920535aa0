import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { UserSummaryEntity, presentUserSummary } from '../users/entity.ts'
import { presentSummaries } from '../users/load.ts'
import { surroundings, user } from '../users/queries.ts'
import { listFollows } from './queries.ts'
import { followUser, unfollowUser } from './service.ts'

export const follow = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/follow',
  summary: 'Follow a user',
  on: user,
  allow: 'signed_in',
  output: UserSummaryEntity,
  async handle({ app, viewer, subject }) {
    await followUser(app, viewer, subject.user)
    return presentUserSummary(subject.user, await surroundings(app))
  },
})

export const unfollow = endpoint({
  method: 'POST',
  path: '/users/:id(\\d+)/unfollow',
  summary: 'Unfollow a user',
  on: user,
  allow: 'signed_in',
  output: UserSummaryEntity,
  async handle({ app, viewer, subject }) {
    await unfollowUser(app, viewer, subject.user)
    return presentUserSummary(subject.user, await surroundings(app))
  },
})

export const followers = endpoint({
  method: 'GET',
  path: '/users/:id(\\d+)/followers',
  summary: 'List who follows a user',
  on: user,
  allow: 'signed_in',
  scopes: ['read_user'],
  output: pageOf(UserSummaryEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listFollows(app.db, subject.user, 'followers', page)
    return { total, items: await presentSummaries(app, items) }
  },
})

export const following = endpoint({
  method: 'GET',
  path: '/users/:id(\\d+)/following',
  summary: 'List whom a user follows',
  on: user,
  allow: 'signed_in',
  scopes: ['read_user'],
  output: pageOf(UserSummaryEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listFollows(app.db, subject.user, 'following', page)
    return { total, items: await presentSummaries(app, items) }
  },
})
