export {}

declare module '../../../store/database.ts' {
  interface Tables {
    /** What a root namespace has used of shared runners, by month. */
    ci_minutes: { namespace_id: number; month: string; seconds: number }
  }
}
