/** The last grade of a session, as SQL: JSON functions of PostgreSQL fail on what strangers' rows may hold. */

/** Hosts write these members first. */
const head = `'^\\s*\\{\\s*"verdict"\\s*:\\s*"([a-z]+)"\\s*,\\s*"passed"\\s*:\\s*[a-z]+\\s*,\\s*"score"\\s*:\\s*(-?[\\d.]+|null)'`;

/** Joins `g` to session `s`: `head`, see below, and when it was answered. */
export const lastGrade = `left join lateral (
    select regexp_match(substring(c.output::text for 200), ${head}) as head, c.answered_at
      from calls c where c.session_id = s.id and c.kind = 'grade' and c.state = 'succeeded'
     order by c.seq desc limit 1) g on true`;

/** Of the grade that is joined; both are null where there is none. */
export const gradeColumns = `g.head[1] as verdict, nullif(g.head[2], 'null')::float8 as score`;
