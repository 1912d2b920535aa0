declare module '../../../store/database.ts' {
  interface Tables {
    user_follows: { follower_id: number; followee_id: number; created_at: string }
  }
  interface Events {
    'user.followed': { id: number; by: number }
    'user.unfollowed': { id: number; by: number }
  }
}

export {}
