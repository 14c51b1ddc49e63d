BEGIN TRANSACTION;
CREATE TABLE adjudication (
	id INTEGER NOT NULL, 
	pair_id INTEGER NOT NULL, 
	winner VARCHAR(4) NOT NULL, 
	tags JSON NOT NULL, 
	note TEXT NOT NULL, 
	actor VARCHAR(80) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_adjudication PRIMARY KEY (id), 
	CONSTRAINT fk_adjudication_pair_id FOREIGN KEY(pair_id) REFERENCES pair (id)
);
CREATE TABLE admin (
	id INTEGER NOT NULL, 
	password_hash TEXT NOT NULL, 
	set_ms BIGINT NOT NULL, name VARCHAR(40) DEFAULT 'admin' NOT NULL, role VARCHAR(12) DEFAULT 'owner' NOT NULL, 
	CONSTRAINT pk_admin PRIMARY KEY (id)
);
INSERT INTO "admin" VALUES(1,'$argon2id$old',5,'admin','owner');
CREATE TABLE admin_device (
	id INTEGER NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	device_hash VARCHAR(64) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_admin_device PRIMARY KEY (id), 
	CONSTRAINT uq_admin_device_name_device_hash UNIQUE (name, device_hash)
);
CREATE TABLE admin_session (
	id INTEGER NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	expires_ms BIGINT NOT NULL, name VARCHAR(40) DEFAULT 'admin' NOT NULL, 
	CONSTRAINT pk_admin_session PRIMARY KEY (id), 
	CONSTRAINT uq_admin_session_token_hash UNIQUE (token_hash)
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0010');
CREATE TABLE api_token (
	id INTEGER NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	scopes JSON NOT NULL, 
	study VARCHAR(80) DEFAULT '' NOT NULL, 
	made_by VARCHAR(40) NOT NULL, 
	made_ms BIGINT NOT NULL, 
	expires_ms BIGINT, 
	revoked_ms BIGINT, 
	CONSTRAINT pk_api_token PRIMARY KEY (id), 
	CONSTRAINT uq_api_token_token_hash UNIQUE (token_hash), 
	CONSTRAINT uq_api_token_name UNIQUE (name)
);
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	pair_id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	purpose VARCHAR(10) NOT NULL, 
	look INTEGER NOT NULL, 
	number INTEGER NOT NULL, 
	"left" VARCHAR(1) NOT NULL, 
	token_a VARCHAR(64) NOT NULL, 
	token_b VARCHAR(64) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	vote_id INTEGER, 
	watch JSON, 
	draft JSON, 
	assigned_ms BIGINT NOT NULL, 
	shown_ms BIGINT, 
	touched_ms BIGINT NOT NULL, sent JSON, arrangement VARCHAR(5), 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT fk_assignment_pair_id FOREIGN KEY(pair_id) REFERENCES pair (id), 
	CONSTRAINT fk_assignment_rater_id FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT fk_assignment_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT uq_assignment_key UNIQUE ("key"), 
	CONSTRAINT uq_assignment_pair_id_rater_id_look UNIQUE (pair_id, rater_id, look), 
	CONSTRAINT uq_assignment_token_a UNIQUE (token_a), 
	CONSTRAINT uq_assignment_token_b UNIQUE (token_b)
);
INSERT INTO "assignment" VALUES(1,1,1,1,'key','sample',1,1,'a','ta','tb','voted',1,NULL,NULL,5,5,5,NULL,NULL);
CREATE TABLE attempt (
	id INTEGER NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_attempt PRIMARY KEY (id)
);
CREATE TABLE audit (
	id INTEGER NOT NULL, 
	study_id INTEGER, 
	actor VARCHAR(80) NOT NULL, 
	action VARCHAR(40) NOT NULL, 
	detail JSON NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_audit PRIMARY KEY (id), 
	CONSTRAINT fk_audit_study_id FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE clip (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	system TEXT NOT NULL, 
	name TEXT NOT NULL, 
	source TEXT NOT NULL, 
	path TEXT NOT NULL, 
	sha256 VARCHAR(64) NOT NULL, 
	duration_ms INTEGER NOT NULL, 
	fps FLOAT NOT NULL, 
	width INTEGER NOT NULL, 
	height INTEGER NOT NULL, 
	has_audio BOOLEAN NOT NULL, 
	content_type VARCHAR(40) NOT NULL, 
	size BIGINT NOT NULL, 
	token VARCHAR(64) NOT NULL, served_sha256 VARCHAR(64), treatment VARCHAR(10), refused TEXT DEFAULT '' NOT NULL, padded BIGINT, 
	CONSTRAINT pk_clip PRIMARY KEY (id), 
	CONSTRAINT fk_clip_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT uq_clip_token UNIQUE (token)
);
INSERT INTO "clip" VALUES(1,1,'a','a','/c/a.mp4','/c/a.mp4','aa',480,25.0,48,32,0,'video/mp4',9,'t1',NULL,NULL,'',NULL);
INSERT INTO "clip" VALUES(2,1,'b','b','/c/b.mkv','/m/b.mp4','bb',480,25.0,48,32,0,'video/mp4',9,'t2',NULL,NULL,'',NULL);
CREATE TABLE exclusion (
	id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	excluded BOOLEAN NOT NULL, 
	rule TEXT NOT NULL, 
	why TEXT NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_exclusion PRIMARY KEY (id), 
	CONSTRAINT fk_exclusion_rater_id FOREIGN KEY(rater_id) REFERENCES rater (id)
);
CREATE TABLE import_state (
	id INTEGER NOT NULL, 
	study VARCHAR(80) NOT NULL, 
	state VARCHAR(10) NOT NULL, 
	text TEXT NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_import_state PRIMARY KEY (id), 
	CONSTRAINT uq_import_state_study UNIQUE (study)
);
CREATE TABLE pair (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	sample TEXT NOT NULL, 
	family VARCHAR(80) NOT NULL, 
	prompt TEXT NOT NULL, 
	prompt_text TEXT NOT NULL, 
	clip_a_id INTEGER NOT NULL, 
	clip_b_id INTEGER NOT NULL, 
	expected VARCHAR(4), 
	expected_tag TEXT, 
	feedback TEXT NOT NULL, 
	first_left VARCHAR(1) NOT NULL, 
	votes INTEGER NOT NULL, 
	live INTEGER NOT NULL, 
	lefts_a INTEGER NOT NULL, 
	needed INTEGER NOT NULL, 
	free INTEGER NOT NULL, 
	state VARCHAR(10) NOT NULL, source_clip_id INTEGER, retired BOOLEAN DEFAULT 0 NOT NULL, clip_c_id INTEGER, clip_d_id INTEGER, clip_e_id INTEGER, 
	CONSTRAINT pk_pair PRIMARY KEY (id), 
	CONSTRAINT fk_pair_clip_a_id FOREIGN KEY(clip_a_id) REFERENCES clip (id), 
	CONSTRAINT fk_pair_clip_b_id FOREIGN KEY(clip_b_id) REFERENCES clip (id), 
	CONSTRAINT fk_pair_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT uq_pair_study_id_sample UNIQUE (study_id, sample)
);
INSERT INTO "pair" VALUES(1,1,'sample','s1','T1','p1','Words',1,2,NULL,NULL,'','a',1,1,1,2,1,'open',NULL,0,NULL,NULL,NULL);
CREATE TABLE play (
	id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	sequence BIGINT NOT NULL, 
	side VARCHAR(1) NOT NULL, 
	start_ms FLOAT NOT NULL, 
	end_ms FLOAT NOT NULL, 
	rate FLOAT NOT NULL, 
	visible BOOLEAN NOT NULL, 
	refused TEXT NOT NULL, 
	client_ms BIGINT NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_play PRIMARY KEY (id), 
	CONSTRAINT fk_play_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT uq_play_assignment_id_side_sequence UNIQUE (assignment_id, side, sequence)
);
CREATE TABLE problem (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	kind VARCHAR(40) NOT NULL, 
	text TEXT NOT NULL, 
	at_ms BIGINT NOT NULL, resolution TEXT DEFAULT '' NOT NULL, resolved_by VARCHAR(80) DEFAULT '' NOT NULL, resolved_ms BIGINT, 
	CONSTRAINT pk_problem PRIMARY KEY (id), 
	CONSTRAINT fk_problem_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_problem_study_id FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE rater (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	code VARCHAR(80) NOT NULL, 
	invite_hash VARCHAR(64), 
	consent_ms BIGINT, 
	trained_ms BIGINT, 
	seen_ms BIGINT, 
	work_since_ms BIGINT, 
	active_ms BIGINT NOT NULL, 
	tasks INTEGER NOT NULL, 
	excluded BOOLEAN NOT NULL, language VARCHAR(8), sound_ms BIGINT, sound_tries INTEGER DEFAULT '0' NOT NULL, recruitment_id INTEGER, participant VARCHAR(128), platform_session VARCHAR(128), outcome VARCHAR(20), joined_ms BIGINT, erased_ms BIGINT, erasing BOOLEAN DEFAULT 0 NOT NULL, screen_ms BIGINT, withdrawn_ms BIGINT, screen_found JSON, withdrawn_votes INTEGER DEFAULT '0' NOT NULL, withdraw_key VARCHAR(64), 
	CONSTRAINT pk_rater PRIMARY KEY (id), 
	CONSTRAINT fk_rater_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT uq_rater_invite_hash UNIQUE (invite_hash), 
	CONSTRAINT uq_rater_study_id_code UNIQUE (study_id, code)
);
INSERT INTO "rater" VALUES(1,1,'rater_01',NULL,5,5,5,5,0,1,0,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,NULL,0,NULL);
CREATE TABLE rater_session (
	id INTEGER NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	rater_id INTEGER NOT NULL, 
	expires_ms BIGINT NOT NULL, since_ms BIGINT DEFAULT '0' NOT NULL, 
	CONSTRAINT pk_rater_session PRIMARY KEY (id), 
	CONSTRAINT fk_rater_session_rater_id FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT uq_rater_session_token_hash UNIQUE (token_hash)
);
CREATE TABLE recruitment (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	token_hash VARCHAR(64) NOT NULL, 
	platform VARCHAR(20) NOT NULL, 
	quota INTEGER NOT NULL, 
	ids VARCHAR(10) NOT NULL, 
	secret VARCHAR(64) NOT NULL, 
	codes JSON NOT NULL, 
	return_url TEXT NOT NULL, 
	opened_ms BIGINT NOT NULL, 
	closed_ms BIGINT, participant_form TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_recruitment PRIMARY KEY (id), 
	CONSTRAINT fk_recruitment_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT uq_recruitment_token_hash UNIQUE (token_hash)
);
CREATE TABLE study (
	id INTEGER NOT NULL, 
	name VARCHAR(80) NOT NULL, 
	title TEXT NOT NULL, 
	rubric VARCHAR(20) NOT NULL, 
	seed BIGINT NOT NULL, 
	min_raters INTEGER NOT NULL, 
	quota INTEGER, 
	gold_every INTEGER NOT NULL, 
	repeat_every INTEGER NOT NULL, 
	exclusion_rule JSON NOT NULL, 
	watch_rule JSON NOT NULL, 
	simulated BOOLEAN NOT NULL, 
	created_ms BIGINT NOT NULL, training_tries INTEGER DEFAULT '3' NOT NULL, language VARCHAR(8) DEFAULT 'en' NOT NULL, rubric_text TEXT, consent_text JSON, audio_check BOOLEAN DEFAULT 0 NOT NULL, state VARCHAR(10) DEFAULT 'open' NOT NULL, on_erase VARCHAR(10) DEFAULT 'keep' NOT NULL, pairing VARCHAR(20) DEFAULT 'round-robin' NOT NULL, pay TEXT DEFAULT '' NOT NULL, families JSON DEFAULT '{}' NOT NULL, method VARCHAR(40) DEFAULT 'pairs' NOT NULL, reference TEXT DEFAULT '' NOT NULL, alike TEXT DEFAULT 'off' NOT NULL, screens JSON DEFAULT '{}' NOT NULL, retain_until VARCHAR(10) DEFAULT '' NOT NULL, 
	CONSTRAINT pk_study PRIMARY KEY (id), 
	CONSTRAINT uq_study_name UNIQUE (name)
);
INSERT INTO "study" VALUES(1,'takes','Takes','0.1',1,2,NULL,0,0,'{}','{"passes": 2}',0,5,3,'en',NULL,NULL,0,'open','keep','round-robin','','{}','pairs','','off','{}','');
CREATE TABLE study_role (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	name VARCHAR(40) NOT NULL, 
	role VARCHAR(12) NOT NULL, 
	at_ms BIGINT NOT NULL, 
	CONSTRAINT pk_study_role PRIMARY KEY (id), 
	CONSTRAINT uq_study_role_study_id_name UNIQUE (study_id, name), 
	CONSTRAINT fk_study_role_study_id FOREIGN KEY(study_id) REFERENCES study (id)
);
CREATE TABLE vote (
	id INTEGER NOT NULL, 
	study_id INTEGER NOT NULL, 
	assignment_id INTEGER NOT NULL, 
	pair_id INTEGER NOT NULL, 
	rater_id INTEGER NOT NULL, 
	purpose VARCHAR(10) NOT NULL, 
	"key" VARCHAR(64) NOT NULL, 
	winner VARCHAR(4) NOT NULL, 
	"left" VARCHAR(1), 
	primary_tag TEXT NOT NULL, 
	secondary_tags JSON NOT NULL, 
	ratings JSON NOT NULL, 
	pair_ratings JSON NOT NULL, 
	note TEXT NOT NULL, 
	watched JSON NOT NULL, 
	supersedes INTEGER, 
	at_ms BIGINT NOT NULL, viewing JSON, bent JSON, arrangement VARCHAR(5), answer JSON, 
	CONSTRAINT pk_vote PRIMARY KEY (id), 
	CONSTRAINT fk_vote_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id), 
	CONSTRAINT fk_vote_pair_id FOREIGN KEY(pair_id) REFERENCES pair (id), 
	CONSTRAINT fk_vote_rater_id FOREIGN KEY(rater_id) REFERENCES rater (id), 
	CONSTRAINT fk_vote_study_id FOREIGN KEY(study_id) REFERENCES study (id), 
	CONSTRAINT fk_vote_supersedes FOREIGN KEY(supersedes) REFERENCES vote (id), 
	CONSTRAINT uq_vote_assignment_id_key UNIQUE (assignment_id, "key")
);
INSERT INTO "vote" VALUES(1,1,1,1,1,'sample','k','a','a','Missed constraint','[]','{}','{}','kept','[]',NULL,5,NULL,NULL,NULL,NULL);
CREATE INDEX ix_audit_study_id ON audit (study_id);
CREATE INDEX ix_exclusion_rater_id ON exclusion (rater_id);
CREATE INDEX ix_pair_study_id_kind_free ON pair (study_id, kind, free);
CREATE INDEX ix_rater_session_rater_id ON rater_session (rater_id);
CREATE INDEX ix_adjudication_pair_id ON adjudication (pair_id);
CREATE INDEX ix_assignment_rater_id_state_number ON assignment (rater_id, state, number);
CREATE INDEX ix_assignment_study_id_state_touched_ms ON assignment (study_id, state, touched_ms);
CREATE INDEX ix_problem_study_id ON problem (study_id);
CREATE INDEX ix_vote_pair_id ON vote (pair_id);
CREATE INDEX ix_vote_study_id_purpose ON vote (study_id, purpose);
CREATE TRIGGER vote_no_update BEFORE UPDATE ON vote BEGIN SELECT RAISE(ABORT, 'vote rows are append-only'); END;
CREATE TRIGGER play_no_update BEFORE UPDATE ON play BEGIN SELECT RAISE(ABORT, 'play rows are append-only'); END;
CREATE TRIGGER adjudication_no_update BEFORE UPDATE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication rows are append-only'); END;
CREATE TRIGGER adjudication_no_delete BEFORE DELETE ON adjudication BEGIN SELECT RAISE(ABORT, 'adjudication rows are append-only'); END;
CREATE TRIGGER exclusion_no_update BEFORE UPDATE ON exclusion BEGIN SELECT RAISE(ABORT, 'exclusion rows are append-only'); END;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit rows are append-only'); END;
CREATE UNIQUE INDEX ix_rater_study_id_participant ON rater (study_id, participant);
CREATE INDEX ix_recruitment_study_id ON recruitment (study_id);
CREATE TRIGGER vote_no_delete BEFORE DELETE ON vote WHEN NOT EXISTS (SELECT 1 FROM rater WHERE rater.erasing AND rater.id = OLD.rater_id) BEGIN SELECT RAISE(ABORT, 'vote rows are append-only'); END;
CREATE TRIGGER exclusion_no_delete BEFORE DELETE ON exclusion WHEN NOT EXISTS (SELECT 1 FROM rater WHERE rater.erasing AND rater.id = OLD.rater_id) BEGIN SELECT RAISE(ABORT, 'exclusion rows are append-only'); END;
CREATE TRIGGER play_no_delete BEFORE DELETE ON play WHEN NOT EXISTS (SELECT 1 FROM rater WHERE rater.erasing AND rater.id = (SELECT rater_id FROM assignment WHERE assignment.id = OLD.assignment_id)) BEGIN SELECT RAISE(ABORT, 'play rows are append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN NOT EXISTS (SELECT 1 FROM rater WHERE rater.erasing AND rater.study_id = OLD.study_id) BEGIN SELECT RAISE(ABORT, 'audit rows are append-only'); END;
CREATE INDEX ix_rater_withdraw_key ON rater (withdraw_key);
CREATE INDEX ix_attempt_key_at_ms ON attempt ("key", at_ms);
CREATE INDEX ix_attempt_at_ms ON attempt (at_ms);
COMMIT;
